import { createHash } from 'node:crypto'
import { type MessagePart, isAttached } from '../../domain/content-parts.ts'
import { newId } from '../../domain/ids.ts'
import type { Message } from '../../domain/messages.ts'
import type { Collections } from '../collections.ts'
import { attachedParts, readAttachments } from './prompt-parts.ts'
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
  const bytesOf = await readAttachments(collections, threadId, messages, attachedParts)
  const copies = new Map<string, Received['attachments'][number]>()
  const input = messages.map((message): Message => {
    if (message.type !== 'HumanMessage' && message.type !== 'ToolMessage') return message
    const { parts } = message.data
    if (parts === undefined) return message
    const copied = parts.map(copyOf)
    return message.type === 'HumanMessage'
      ? { type: message.type, data: { ...message.data, parts: copied } }
      : { type: message.type, data: { ...message.data, parts: copied } }
  })
  return { input, attachments: [...copies.values()] }

  function copyOf(part: MessagePart): MessagePart {
    const bytes = isAttached(part) ? bytesOf.get(part.attachment_id) : undefined
    if (bytes === undefined || !isAttached(part)) return part
    const known = copies.get(part.attachment_id)
    const copy = known ?? {
      _id: newId(),
      name: 'name' in part ? (part.name ?? '') : '',
      content_type: part.content_type,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      bytes,
    }
    copies.set(part.attachment_id, copy)
    return { ...part, attachment_id: copy._id }
  }
}
