import { type MessagePart, isAttached } from '../content-parts.ts'
import type { Message } from '../messages.ts'
import { withNewChildRuns } from './child-run-ids.ts'
import type { NewIds } from './new-ids.ts'

/**
 * A message with the new ids of its images, sounds and files, and of the runs that its calls started. For the thread
 * that reads an archive, which has the message parsed.
 */
export function renamedMessage(archived: Message, idOf: NewIds): Message {
  const message = withNewChildRuns(archived, idOf)
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

  function renamedPart(part: MessagePart): MessagePart {
    if (!isAttached(part)) return part
    const copied = { ...part, attachment_id: idOf('attachment', part.attachment_id) }
    return copied.type !== 'audio' && copied.file_id !== undefined
      ? { ...copied, file_id: idOf('file', copied.file_id) }
      : copied
  }
}
