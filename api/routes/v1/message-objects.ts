import type { Static } from 'typebox'
import type { MessagePart } from '../../../domain/content-parts.ts'
import type { CitedFile } from '../../../domain/knowledge/citations.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { WrittenFile } from '../../../domain/responses/written-files.ts'
import type { LoggedMessage } from '../../../services/public/named-threads.ts'
import { toCompatMessage, toCompatThread } from '../public/compat-objects.ts'
import type { CompatMessage } from '../public/thread-schemas.ts'
import { toResources } from './assistant-schemas.ts'
import { filePathsIn } from './code-objects.ts'
import type { V1Message, V1Thread } from './thread-schemas.ts'

export function toV1Thread(thread: ThreadRecord): Static<typeof V1Thread> {
  const { vector_stores: vectorStores = [], code_files: codeFiles = [] } = thread
  const hasSome = vectorStores.length + codeFiles.length > 0
  return { ...toCompatThread(thread), tool_resources: hasSome ? toResources({ vectorStores, codeFiles }) : null }
}

/** `linkOf`: where the native API gives the bytes of an image that came as data. */
export function toV1Message(
  logged: LoggedMessage,
  owner: { threadId: string; assistantId: string },
  { cited, written }: { cited: CitedFile[] | undefined; written: WrittenFile[] },
  linkOf: (attachmentId: string) => string,
): V1Message {
  const { message } = logged
  const shape = toCompatMessage(logged, owner, cited)
  const attachments =
    message.type === 'HumanMessage' || message.type === 'AIMessage' ? (message.data.attachments ?? []) : []
  const parts = message.type === 'HumanMessage' ? message.data.parts : undefined
  if (message.type === 'AIMessage') return { ...withWritten(shape, written, linkOf), attachments }
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

/**
 * An answer with the images that code has drawn for it, and the places that name files. The text comes first, as in its
 * stream. Images that are no files of the project have an address, if `linkOf` knows one.
 */
export function withWritten(
  shape: CompatMessage,
  written: WrittenFile[],
  linkOf?: (attachmentId: string) => string,
): V1MessageMembers {
  if (written.length === 0) return shape
  const content = shape.content.map((block) =>
    block.type !== 'text'
      ? block
      : {
          ...block,
          text: {
            ...block.text,
            annotations: [...block.text.annotations, ...filePathsIn(block.text.value, written)],
          },
        },
  )
  return { ...shape, content: [...content, ...written.flatMap(imageOf)] }

  function imageOf({ isImage, isNew, fileId, attachmentId }: WrittenFile): V1MessageMembers['content'] {
    if (!isImage || !isNew) return []
    if (fileId !== undefined) return [{ type: 'image_file', image_file: { file_id: fileId } }]
    return linkOf === undefined ? [] : [{ type: 'image_url', image_url: { url: linkOf(attachmentId) } }]
  }
}

type V1MessageMembers = Omit<CompatMessage, 'content'> & Pick<V1Message, 'content'>
