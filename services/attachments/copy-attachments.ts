import { createHash } from 'node:crypto'
import { isAttached } from '../../domain/content-parts.ts'
import { newId } from '../../domain/ids.ts'
import type { Message } from '../../domain/messages.ts'
import type { Collections } from '../collections.ts'
import { readAttachments } from './prompt-parts.ts'
import type { Received } from './receive-content.ts'

/**
 * Messages of a thread for another one, with copies of the bytes that a model would be shown. Parts whose bytes are not
 * copied stay in their messages: the model is told that something was there.
 */
export async function copyAttachments(
  collections: Pick<Collections, 'attachments'>,
  threadId: string,
  messages: Message[],
): Promise<Received> {
  const bytesOf = await readAttachments(collections, threadId, messages)
  const copies = new Map<string, Received['attachments'][number]>()
  const input = messages.map((message): Message => {
    if (message.type !== 'HumanMessage' || message.data.parts === undefined) return message
    const parts = message.data.parts.map((part) => {
      const bytes = isAttached(part) ? bytesOf.get(part.attachment_id) : undefined
      if (bytes === undefined || !isAttached(part)) return part
      const known = copies.get(part.attachment_id)
      const copy = known ?? {
        _id: newId(),
        name: part.type === 'file' ? part.name : '',
        content_type: part.content_type,
        size: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        bytes,
      }
      copies.set(part.attachment_id, copy)
      return { ...part, attachment_id: copy._id }
    })
    return { type: message.type, data: { ...message.data, parts } }
  })
  return { input, attachments: [...copies.values()] }
}
