import { createHash } from 'node:crypto'
import {
  type AttachmentLimits,
  type ContentPartInput,
  type MessagePart,
  imageUrlLength,
  isAttached,
} from '../../domain/content-parts.ts'
import { invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type Message, type MessageInput, type RunMessageInput, normaliseMessage } from '../../domain/messages.ts'
import type { AttachmentRecord } from '../../domain/records/attachment.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { attachmentStore } from '../stores/attachments.ts'
import { type FilePart, type PartSources, readPart } from './read-part.ts'

type Loc = (string | number)[]
export type LocOf = (index: number) => Loc

/** An attachment before it is known to which thread it belongs. */
export type NewAttachment = Pick<
  AttachmentRecord,
  '_id' | 'name' | 'content_type' | 'size' | 'sha256' | 'bytes' | 'is_written'
>

/** The members of a new run. */
export interface Received {
  input: Message[]
  /** The bytes of the parts; they are stored with the run. */
  attachments: NewAttachment[]
}

type GivenPart = FilePart | Extract<ContentPartInput, { type: 'text' }>
/** A message as callers send it; on `/v1` with parts of more kinds. */
export type GivenMessage = RunMessageInput | { type: 'HumanMessage'; data: { content: GivenPart[] } }

/**
 * Messages in their stored form, with the bytes of their images, sounds and files, which are read one after the other.
 * Throws `invalid_input` before the first is read if there are too many.
 */
export async function receiveContent(
  sources: PartSources,
  inputs: GivenMessage[],
  { limits, loc, locOf = (index) => [...loc, index] }: { limits: AttachmentLimits; loc: Loc; locOf?: LocOf },
): Promise<Received> {
  const files = inputs.flatMap((input) => partsOf(input) ?? []).filter(({ type }) => type !== 'text')
  if (files.length > limits.files)
    throw invalidInput(loc, `have ${files.length} images, sounds and files; ${limits.files} are allowed`, 'too_many')
  const attachments: NewAttachment[] = []
  let left: number = limits.allBytes

  async function attached(part: FilePart, at: Loc): Promise<MessagePart> {
    const { name, contentType, bytes } = await readPart(sources, part, {
      maxBytes: Math.min(limits.bytes, left),
      loc: at,
    })
    left -= bytes.length
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const attachment = { _id: newId(), name, content_type: contentType, size: bytes.length, sha256, bytes }
    attachments.push(attachment)
    const stored = { attachment_id: attachment._id, content_type: contentType, size: bytes.length }
    if (part.type === 'input_audio') return { type: 'audio', ...stored }
    if (part.type === 'file' || part.type === 'file_url') return { type: 'file', ...stored, name }
    return { type: 'image', ...stored, ...sourceOf(part) }
  }

  const messages: Message[] = []
  for (const [index, input] of inputs.entries()) {
    const given = partsOf(input)
    const message = normaliseMessage(withText(input))
    messages.push(message)
    if (given === undefined || given.every(({ type }) => type === 'text')) continue
    if (message.type !== 'HumanMessage')
      throw invalidInput(
        [...locOf(index), 'content'],
        'only a message of a person can have more than text',
        'unsupported',
      )
    const parts: MessagePart[] = []
    for (const [place, part] of given.entries())
      parts.push(part.type === 'text' ? part : await attached(part, [...locOf(index), 'content', place]))
    message.data.parts = parts
  }
  return { input: messages, attachments }
}

/** What is shown again of an image: how it was named. */
function sourceOf(part: Extract<FilePart, { type: 'image_url' | 'image_file' }>) {
  const { detail } = part.type === 'image_file' ? part.image_file : part.image_url
  const shown = detail === undefined ? {} : { detail }
  if (part.type === 'image_file') return { ...shown, file_id: part.image_file.file_id }
  const { url } = part.image_url
  return url.startsWith('data:') || url.length > imageUrlLength ? shown : { ...shown, url }
}

/** The same input for another thread, which has its own copies of the bytes. */
export function copyForThread({ input, attachments }: Received): Received {
  const newIds = new Map(attachments.map(({ _id }) => [_id, newId()]))
  const idOf = (id: string) => newIds.get(id) ?? id
  return {
    attachments: attachments.map((attachment) => ({ ...attachment, _id: idOf(attachment._id) })),
    input: input.map((message) =>
      message.type === 'HumanMessage' && message.data.parts !== undefined
        ? { ...message, data: { ...message.data, parts: message.data.parts.map(withNewId) } }
        : message,
    ),
  }

  function withNewId(part: MessagePart): MessagePart {
    return isAttached(part) ? { ...part, attachment_id: idOf(part.attachment_id) } : part
  }
}

function contentOf(input: GivenMessage): string | GivenPart[] {
  return 'data' in input ? input.data.content : input.content
}

function partsOf(input: GivenMessage): GivenPart[] | undefined {
  const content = contentOf(input)
  return typeof content === 'string' ? undefined : content
}

/** The message with the text of its parts, joined, as its content. */
function withText(input: GivenMessage): MessageInput {
  const content = contentOf(input)
  const text =
    typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('')
  if ('content' in input) return { ...input, content: text }
  return input.type === 'HumanMessage' ? { type: input.type, data: { ...input.data, content: text } } : input
}

/** Stores the bytes of a run's input under its thread. */
export async function storeAttachments(
  collections: Pick<Collections, 'attachments'>,
  { thread_id, user_id, created_at }: Pick<RunRecord, 'thread_id' | 'user_id' | 'created_at'>,
  given: NewAttachment[],
): Promise<void> {
  // One at a time: a statement carries at most 48 MB.
  for (const attachment of given)
    await attachmentStore(collections).add({ ...attachment, thread_id, user_id, created_at })
}

export async function removeAttachments(
  collections: Pick<Collections, 'attachments'>,
  { thread_id: threadId }: Pick<RunRecord, 'thread_id'>,
  given: NewAttachment[],
): Promise<void> {
  await attachmentStore(collections).remove(
    threadId,
    given.map(({ _id }) => _id),
  )
}

/** Stores bytes before what needs them, and removes them if that fails. */
export async function withAttachments<T>(
  collections: Pick<Collections, 'attachments'>,
  owner: Pick<RunRecord, 'thread_id' | 'user_id' | 'created_at'>,
  { given, work }: { given: NewAttachment[]; work: () => Promise<T> },
): Promise<T> {
  try {
    await storeAttachments(collections, owner, given)
    return await work()
  } catch (error) {
    await removeAttachments(collections, owner, given)
    throw error
  }
}
