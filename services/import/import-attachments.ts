import { createHash } from 'node:crypto'
import type { ArchivedAttachment } from '../../domain/archive/records.ts'
import { bytesWithin } from '../../domain/bytes-within.ts'
import { type MessagePart, isAttached } from '../../domain/content-parts.ts'
import { type Message, messagesFromJson, messagesToJson } from '../../domain/messages.ts'
import type { AttachmentRecord } from '../../domain/records/attachment.ts'
import { withEntryId } from '../../domain/responses/ids.ts'
import { writtenTypeOf } from '../attachments/content-type.ts'
import type { Collections } from '../collections.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import { takesPlace } from '../threads/quota.ts'
import { type Import, importedThread } from './import.ts'
import { withNewAskedRuns } from './asked-ids.ts'
import { holdsItems } from './import-v1.ts'
import type { NewIds } from './new-ids.ts'
import { refused, settle } from './report.ts'

export interface ImportAttachmentsDeps {
  collections: Pick<Collections, 'threads' | 'attachments'>
  storageQuota: Pick<StorageQuota, 'requireRoomForRun'>
}

/** The images, sounds and files of imported messages. What bytes are is read from them, as it is when a message comes. */
export function createAttachmentImport(
  { collections, storageQuota }: ImportAttachmentsDeps,
  { userId, idOf, report }: Import,
) {
  const { threads, attachments } = collections

  return (archived: ArchivedAttachment, content: AsyncIterable<Buffer>): Promise<void> =>
    settle(report, 'attachments', archived.attachment_id, async () => {
      const thread = await importedThread(collections, userId, idOf('thread', archived.thread_id ?? ''))
      const id = idOf('attachment', archived.attachment_id)
      const own = { _id: id, user_id: userId }
      if ((await attachments.exists(own)) !== null) return 'existing'
      if (!takesPlace(thread)) await storageQuota.requireRoomForRun(userId, archived.size, false)
      const bytes = await bytesOf(content, archived.size)
      const record: AttachmentRecord = {
        _id: id,
        thread_id: thread._id,
        user_id: userId,
        name: archived.name,
        content_type: writtenTypeOf(bytes),
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        bytes,
        created_at: new Date(archived.created_at),
      }
      await attachments.create([record])
      // Stored first and checked afterwards: see services/parents.ts.
      if ((await threads.exists({ _id: thread._id, deleting: { $ne: true } })) !== null) return 'imported'
      await attachments.deleteOne(own)
      throw refused('its thread was deleted')
    })
}

/** Holds no more than the size that the record says, which is bounded. */
async function bytesOf(content: AsyncIterable<Buffer>, size: number): Promise<Buffer> {
  const bytes = await bytesWithin(content, size)
  if (bytes?.length !== size) throw refused('its bytes are not as many as its record says')
  return bytes
}

/** The ids of messages, and of those that they follow, where messages have them. In texts, quotes are escaped. */
const messageIds = /("type":"(?:Human|AI|Tool|System)Message","data":\{"id":"|"after":")([^"\\]{38,200})(?=")/g

/** In the text: to parse all messages of an entry takes seconds of processor time. */
function withNewItems(messagesJson: string, idOf: NewIds): string {
  const rename = (entryId: string) => idOf('run', entryId)
  return messagesJson.replaceAll(messageIds, (_all, before: string, id: string) => before + withEntryId(id, rename))
}

/** Members of stored messages that name other records. */
const naming = ['"attachment_id"', '"attachments"', '"run_id"']

/**
 * Stored messages with the new ids of their images, sounds and files, and of the runs that their calls started; where they
 * are shown as items, their own ids name the new runs and entries, too.
 */
export function withNewIdsIn(messagesJson: string, idOf: NewIds, thread: Parameters<typeof holdsItems>[0]): string {
  const text = holdsItems(thread) ? withNewItems(messagesJson, idOf) : messagesJson
  if (!naming.some((member) => text.includes(member))) return text
  return messagesToJson(messagesFromJson(text).map((message) => renamed(withNewAskedRuns(message, idOf))))

  function renamed(message: Message): Message {
    if (message.type === 'ToolMessage') {
      const { parts } = message.data
      return parts === undefined ? message : { ...message, data: { ...message.data, parts: parts.map(renamedPart) } }
    }
    if (message.type === 'SystemMessage') return message
    const { attachments } = message.data
    const files = attachments?.map((file) => ({ ...file, file_id: idOf('file', file.file_id) }))
    const changed = files === undefined ? {} : { attachments: files }
    if (message.type === 'AIMessage') return { ...message, data: { ...message.data, ...changed } }
    const parts = message.data.parts?.map(renamedPart)
    return { ...message, data: { ...message.data, ...changed, ...(parts === undefined ? {} : { parts }) } }
  }

  function renamedPart(part: MessagePart): MessagePart {
    if (!isAttached(part)) return part
    const copied = { ...part, attachment_id: idOf('attachment', part.attachment_id) }
    return copied.type !== 'audio' && copied.file_id !== undefined
      ? { ...copied, file_id: idOf('file', copied.file_id) }
      : copied
  }
}
