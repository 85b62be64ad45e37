import type { Static } from 'typebox'
import type { MessagePart } from '../../../domain/content-parts.ts'
import type { CitedFile } from '../../../domain/knowledge/citations.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { LoggedMessage } from '../../../services/public/thread-messages.ts'
import { messageShape, threadShape } from '../public/thread-shapes.ts'
import type { V1Message, V1Thread } from './thread-schemas.ts'

export function v1ThreadShape(thread: ThreadRecord): Static<typeof V1Thread> {
  const ids = thread.vector_stores ?? []
  return {
    ...threadShape(thread),
    tool_resources: ids.length === 0 ? null : { file_search: { vector_store_ids: ids } },
  }
}

/** `linkOf`: where the native API gives the bytes of an image that came as data. */
export function v1MessageShape(
  logged: LoggedMessage,
  owner: { threadId: string; assistantId: string },
  cited: CitedFile[] | undefined,
  linkOf: (attachmentId: string) => string,
): V1Message {
  const { message } = logged
  const shape = messageShape(logged, owner, cited)
  const attachments =
    message.type === 'HumanMessage' || message.type === 'AIMessage' ? (message.data.attachments ?? []) : []
  const parts = message.type === 'HumanMessage' ? message.data.parts : undefined
  if (parts === undefined) return { ...shape, attachments }
  return { ...shape, attachments, content: parts.flatMap(partOf) }

  function partOf(part: MessagePart): V1Message['content'] {
    if (part.type === 'text') return [{ type: 'text', text: { value: part.text, annotations: [] } }]
    // The interface knows no sounds and files among the parts of a message.
    if (part.type !== 'image') return []
    const detail = part.detail === undefined ? {} : { detail: part.detail }
    if (part.file_id !== undefined) return [{ type: 'image_file', image_file: { file_id: part.file_id, ...detail } }]
    return [{ type: 'image_url', image_url: { url: part.url ?? linkOf(part.attachment_id), ...detail } }]
  }
}
