import type { FileOfMessage } from '../../domain/content-parts.ts'
import { invalidInput } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/foreign-json.ts'
import type { Message } from '../../domain/messages.ts'
import type { Metadata } from '../../domain/metadata.ts'
import type { FilePart } from '../attachments/read-part.ts'
import type { GivenMessage, LocOf, NewAttachment } from '../attachments/receive-content.ts'
import type { createStoreEntries } from '../knowledge/store-entries.ts'
import { type Caller, requireEditor } from '../owner.ts'
import { inputMessages } from '../runs/index.ts'
import { type PartSourcesDeps, withPartSources } from './part-sources.ts'

interface ReceiveMessagesDeps extends PartSourcesDeps {
  entries: Pick<ReturnType<typeof createStoreEntries>, 'admit' | 'requireSource'>
}

/** A message of a request on `/v1`. */
export interface V1MessageInput {
  role: 'user' | 'assistant'
  content: string | ({ type: 'text'; text: string } | Extract<FilePart, { type: 'image_url' | 'image_file' }>)[]
  files: FileOfMessage[]
  metadata?: Metadata | undefined
}

/** Messages that are to be stored in a thread, with the bytes of their images. */
export interface ReceivedMessages {
  messages: Message[]
  attachments: NewAttachment[]
  /** The files of the project that the thread's vector store gets. */
  fileIds: string[]
  /** The files of the project that code of the thread can read. */
  codeFiles: string[]
}

export type ReceiveMessages = ReturnType<typeof createReceiveMessages>

/**
 * Reads messages, their images and the files that come with them. Throws `invalid_input`, and `not_found` for a file of
 * another project, and `forbidden` for files to search of a member who may not edit the project. Nothing is stored.
 */
export function createReceiveMessages(deps: ReceiveMessagesDeps) {
  return async (caller: Caller, given: V1MessageInput[], locOf: LocOf): Promise<ReceivedMessages> => {
    if (given.length === 0) return { messages: [], attachments: [], fileIds: [], codeFiles: [] }
    const { entries } = deps
    const idsFor = (tool: Tool) => [
      ...new Set(given.flatMap(({ files }) => files.filter(isFor(tool)).map(({ file_id: id }) => id))),
    ]
    const fileIds = idsFor('file_search')
    if (fileIds.length > 0) {
      // They are added to a vector store.
      requireEditor(caller)
      await entries.admit()
    }
    for (const fileId of given.flatMap((message) => message.files)) await entries.requireSource(caller, fileId.file_id)
    const inputs = given.map((message, index) => inputOf(message, [...locOf(index), 'content']))
    const loc = locOf(0).slice(0, -1).map(String)
    const { input, attachments } = await withPartSources(deps, caller, (sources) =>
      inputMessages(sources, inputs, { loc, locOf }),
    )
    const messages = input.map((message, index): Message => {
      const { files: own = [], metadata } = given[index] ?? {}
      if (message.type !== 'HumanMessage' && message.type !== 'AIMessage') return message
      if (metadata) checkFreeForm([...locOf(index).map(String), 'metadata'], metadata)
      if (own.length > 0) message.data.attachments = own
      if (metadata) message.data.metadata = metadata
      return message
    })
    return { messages, attachments, fileIds, codeFiles: idsFor('code_interpreter') }
  }
}

type Tool = FileOfMessage['tools'][number]['type']
const isFor =
  (tool: Tool) =>
  ({ tools }: FileOfMessage) =>
    tools.some(({ type }) => type === tool)

function inputOf({ role, content }: V1MessageInput, loc: (string | number)[]): GivenMessage {
  if (role === 'user')
    return {
      type: 'HumanMessage',
      data: { content: typeof content === 'string' ? content : withoutPlainText(content) },
    } as GivenMessage
  if (typeof content === 'string') return { type: 'AIMessage', data: { content } }
  const texts = content.map((part, index) => {
    if (part.type === 'text') return part.text
    throw invalidInput([...loc, index], 'only a message of the role user can have images', 'unsupported')
  })
  return { type: 'AIMessage', data: { content: texts.join('') } }
}

/** Parts that are all text are one text. */
function withoutPlainText<T extends { type: string }>(parts: T[]): string | T[] {
  return parts.every((part): part is T & { text: string } => part.type === 'text')
    ? parts.map(({ text }) => text).join('')
    : parts
}
