import type { ForeignChat, ForeignSource, LeftOut, Picture } from './chat.ts'
import { type Placed, asVersions, unknownQuestion } from './versions.ts'

/** Messages of one entry of a log, and their characters: a line of an archive is at most 16 MB long. */
const entryMessages = 20
const entryCharacters = 1_000_000
const partBytes = 8 * 1024 * 1024
const blockBytes = 512

export interface Names {
  /** Of the project that the chats are put into. */
  project: string
  assistant: string
  untitled: string
}

/** The chats as an archive of an account (`docs/archive.md`), not compressed, in pieces. `pictures` by their ids. */
export function* archiveOf(
  chats: ForeignChat[],
  source: ForeignSource,
  names: Names,
  left: LeftOut,
  pictures: ReadonlyMap<string, Picture> = new Map(),
): Generator<Uint8Array<ArrayBuffer> | Blob> {
  const now = new Date().toISOString()
  const [projectId, assistantId] = [`from-${source}`, `from-${source}-assistant`]
  const project = { project_id: projectId, name: names.project, description: '', created_at: now }
  const assistant = {
    assistant_id: assistantId,
    project_id: projectId,
    name: names.assistant,
    config: {},
    created_at: now,
  }
  yield* member('manifest.json', line({ format: 'assistant-platform-user', version: 1, exported_at: now }))
  yield* member('projects-00001.jsonl', line(project))
  yield* member('assistants-00001.jsonl', line(assistant))
  const idOf = ({ id }: ForeignChat) => `${source}-${id}`.slice(0, 128).toWellFormed()
  yield* members(
    'threads',
    chats.map((chat) => () => [
      {
        thread_id: idOf(chat),
        project_id: projectId,
        assistant_id: assistantId,
        name: chat.title || names.untitled,
        public: false,
        ...(chat.isArchived && { archived: true }),
        metadata: { imported_from: source },
        created_at: chat.createdAt,
        updated_at: chat.updatedAt,
      },
    ]),
  )
  const attachments = createAttachments(pictures, idOf)
  yield* members(
    'messages',
    chats.map((chat) => () => {
      return inParts(asVersions(chat, left)).map((part, place) => ({
        entry_id: `${idOf(chat)}-${place + 1}`.slice(-128).toWellFormed(),
        thread_id: idOf(chat),
        seq: place + 1,
        source: 'update',
        messages: part.map((one) => attachments.messageOf(chat, one)),
        created_at: part[0]?.at ?? chat.createdAt,
      }))
    }),
  )
  const attached = attachments.all()
  yield* members(
    'attachments',
    attached.map(({ record }) => () => [record]),
  )
  for (const { record, bytes } of attached) yield* memberOf(record.path, bytes, record.size)
  yield new Uint8Array(2 * blockBytes)
}

/** The pictures of messages as attachments. A picture of two chats is an attachment of each. */
function createAttachments(pictures: ReadonlyMap<string, Picture>, idOf: (chat: ForeignChat) => string) {
  const attached = new Map<string, { record: { attachment_id: string; path: string; size: number }; bytes: Blob }>()

  function partOf(chat: ForeignChat, { type, bytes }: Picture, pictureId: string) {
    const id = `${idOf(chat)}-${pictureId}`.slice(-128).toWellFormed()
    const record = {
      attachment_id: id,
      thread_id: idOf(chat),
      name: '',
      size: bytes.size,
      path: `attachments/${attached.size + 1}`,
      created_at: chat.createdAt,
    }
    if (!attached.has(id)) attached.set(id, { record, bytes })
    return { type: 'image' as const, attachment_id: id, content_type: type, size: bytes.size }
  }

  return {
    all: () => [...attached.values()],

    /** A message with the pictures that came with it. */
    messageOf(chat: ForeignChat, { message, pictures: ids }: Placed): Placed['message'] {
      if (message.type !== 'HumanMessage') return message
      const { content } = message.data
      const images = ids.flatMap((id) => {
        const picture = pictures.get(id)
        return picture === undefined ? [] : [partOf(chat, picture, id)]
      })
      if (images.length === 0) return { ...message, data: { ...message.data, content: content || unknownQuestion } }
      const text = content === '' ? [] : [{ type: 'text' as const, text: content }]
      return { ...message, data: { ...message.data, parts: [...text, ...images] } }
    },
  }
}

function inParts(placed: Placed[]): Placed[][] {
  const parts: Placed[][] = []
  let part: Placed[] = []
  let length = 0
  for (const one of placed) {
    const more = one.message.data.content.length
    if (part.length === entryMessages || (part.length > 0 && length + more > entryCharacters)) {
      parts.push(part)
      part = []
      length = 0
    }
    part.push(one)
    length += more
  }
  return part.length === 0 ? parts : [...parts, part]
}

const encoder = new TextEncoder()
const line = (record: unknown): string => `${JSON.stringify(record)}\n`

/** Files of lines, each as long as the service reads one in a piece. */
function* members(kind: string, records: (() => object[])[]): Generator<Uint8Array<ArrayBuffer> | Blob> {
  let lines: string[] = []
  let length = 0
  let number = 0
  const end = function* () {
    number += 1
    yield* member(`${kind}-${String(number).padStart(5, '0')}.jsonl`, lines.join(''))
    lines = []
    length = 0
  }
  for (const recordsOf of records)
    for (const record of recordsOf()) {
      const next = line(record)
      if (length > 0 && length + next.length > partBytes) yield* end()
      lines.push(next)
      length += next.length
    }
  if (length > 0) yield* end()
}

function member(name: string, text: string) {
  const bytes = encoder.encode(text)
  return memberOf(name, bytes, bytes.length)
}

function* memberOf<Content>(
  name: string,
  content: Content,
  size: number,
): Generator<Uint8Array<ArrayBuffer> | Content> {
  yield header(name, size)
  yield content
  yield new Uint8Array((blockBytes - (size % blockBytes)) % blockBytes)
}

/** The header of a file in a tar archive (POSIX ustar). */
function header(name: string, size: number): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(blockBytes)
  const write = (text: string, at: number) => block.set(encoder.encode(text), at)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  write(name, 0)
  write(octal(0o600, 7), 100)
  write(octal(0, 7), 108)
  write(octal(0, 7), 116)
  write(octal(size, 11), 124)
  write(octal(Math.floor(Date.now() / 1000), 11), 136)
  // The checksum is computed with spaces in its place.
  write('        ', 148)
  write('0', 156)
  write('ustar', 257)
  write('00', 263)
  const sum = block.reduce((total, byte) => total + byte, 0)
  write(octal(sum, 6), 148)
  block[154] = 0
  return block
}
