import { createHash } from 'node:crypto'
import type { ArchivedAttachment } from '../../domain/archive/records.ts'
import { bytesWithin } from '../../domain/bytes-within.ts'
import type { AttachmentRecord } from '../../domain/records/attachment.ts'
import { writtenTypeOf } from '../attachments/content-type.ts'
import { refused } from '../capability.ts'
import type { Collections } from '../collections.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import { attachmentStore } from '../stores/attachments.ts'
import { threadStore } from '../stores/threads.ts'
import { countsInQuota } from '../threads/create-thread.ts'
import { type Import, importedThread } from './import.ts'
import { settle } from './report.ts'

export interface ImportAttachmentsDeps {
  collections: Pick<Collections, 'threads' | 'attachments'>
  storageQuota: Pick<StorageQuota, 'requireRoomForRun'>
}

/** The images, sounds and files of imported messages. What bytes are is read from them, as it is when a message comes. */
export function createAttachmentImport(
  { collections, storageQuota }: ImportAttachmentsDeps,
  { userId, idOf, report }: Import,
) {
  const attachments = attachmentStore(collections)

  return (archived: ArchivedAttachment, content: AsyncIterable<Buffer>): Promise<void> =>
    settle(report, 'attachments', archived.attachment_id, async () => {
      const thread = await importedThread(collections, userId, idOf('thread', archived.thread_id ?? ''))
      const id = idOf('attachment', archived.attachment_id)
      if (await attachments.hasOwned(userId, id)) return 'existing'
      if (!countsInQuota(thread)) await storageQuota.requireRoomForRun(userId, archived.size, false)
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
      await attachments.add(record)
      // Stored first and checked afterwards: see services/parents.ts.
      if ((await threadStore(collections).findOwned(userId, thread._id)) !== null) return 'imported'
      await attachments.remove(thread._id, [id])
      throw refused('its thread was deleted')
    })
}

/** Holds no more than the size that the record says, which is bounded. */
async function bytesOf(content: AsyncIterable<Buffer>, size: number): Promise<Buffer> {
  const bytes = await bytesWithin(content, size)
  if (bytes?.length !== size) throw refused('its bytes are not as many as its record says')
  return bytes
}
