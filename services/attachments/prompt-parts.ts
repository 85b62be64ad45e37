import { type AttachedPart, isAttached } from '../../domain/content-parts.ts'
import type { Message } from '../../domain/messages.ts'
import { codeToolName } from '../../domain/responses/written-files.ts'
import type { Collections } from '../collections.ts'
import { attachmentStore } from '../stores/attachments.ts'

/** A part of a message as a model is sent it, in the format of the chat-completions API. */
export type PromptPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string; detail?: 'auto' | 'low' | 'high' } }
  | { type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } }
  | { type: 'file'; file: { filename: string; file_data: string } }

/** The bytes that one request to a model carries; older ones are left out, and the model is told. */
const maxBytes = 24 * 1024 * 1024

/** The attachments of a conversation, as far as one request carries them, by their ids. The newest come first. */
export async function readAttachments(
  collections: Pick<Collections, 'attachments'>,
  threadId: string,
  messages: Message[],
  partsOf: (message: Message) => AttachedPart[] = toAttachedParts,
): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>()
  let left = maxBytes
  for (const part of messages.toReversed().flatMap(partsOf)) {
    left -= part.size
    if (left < 0) break
    if (found.has(part.attachment_id)) continue
    // The id is that of a message, which its owner can edit: only the thread's own bytes are shown.
    const bytes = await attachmentStore(collections).bytesInThread(threadId, part.attachment_id)
    if (bytes !== undefined) found.set(part.attachment_id, bytes)
  }
  return found
}

/** Of a person's message, and of what a tool has written. The newest first. */
export function attachedParts({ type, data }: Message): AttachedPart[] {
  return type === 'HumanMessage' || type === 'ToolMessage' ? (data.parts ?? []).filter(isAttached).toReversed() : []
}

/** What a model is shown. Of files that code has written it is told in words, except of pictures. */
function toAttachedParts(message: Message): AttachedPart[] {
  const parts = attachedParts(message)
  if (message.type !== 'ToolMessage' || message.data.name !== codeToolName) return parts
  return parts.filter(({ type }) => type === 'image')
}

/** The pictures and files in the result of a tool, as far as there are their bytes. */
export function shownByTool(message: Message, bytes: Map<string, Buffer>): PromptPart[] {
  return toAttachedParts(message)
    .toReversed()
    .flatMap((part) => {
      const found = bytes.get(part.attachment_id)
      return found === undefined ? [] : [shown(part, found.toString('base64'))]
    })
}

/** The parts of a person's message for a model; undefined if it is only text. */
export function promptPartsOf(message: Message, bytes: Map<string, Buffer>): PromptPart[] | undefined {
  if (message.type !== 'HumanMessage' || message.data.parts === undefined) return undefined
  return message.data.parts.map((part) => {
    if (part.type === 'text') return part
    const found = bytes.get(part.attachment_id)
    return found === undefined ? { type: 'text', text: missing[part.type] } : shown(part, found.toString('base64'))
  })
}

const missing = {
  image: '[An image was here that is no longer available.]',
  audio: '[A sound was here that is no longer available.]',
  file: '[A file was here that is no longer available.]',
} as const

function shown(part: AttachedPart, base64: string): PromptPart {
  const url = `data:${part.content_type};base64,${base64}`
  switch (part.type) {
    case 'image':
      return { type: 'image_url', image_url: { url, ...(part.detail === undefined ? {} : { detail: part.detail }) } }
    case 'audio':
      return {
        type: 'input_audio',
        input_audio: { data: base64, format: part.content_type === 'audio/wav' ? 'wav' : 'mp3' },
      }
    case 'file':
      return { type: 'file', file: { filename: part.name, file_data: url } }
  }
}

/** About what providers count for an attachment that is not text; a token of a file has some four bytes. */
export function tokensOfAttachments(message: Message): number {
  return toAttachedParts(message).reduce(
    (sum, part) => sum + (part.type === 'file' ? Math.max(500, Math.ceil(part.size / 100)) : 1000),
    0,
  )
}
