import { type ForeignChat, type ForeignSource, type LeftOut } from './chat.ts'
import { type Placed, asVersions } from './versions.ts'

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

/** The chats as an archive of an account (`docs/archive.md`), not compressed, in pieces. */
export function* archiveOf(
  chats: ForeignChat[],
  source: ForeignSource,
  names: Names,
  left: LeftOut,
): Generator<Uint8Array<ArrayBuffer>> {
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
  yield* members(
    'messages',
    chats.map((chat) => () => {
      return inParts(asVersions(chat, left)).map((part, place) => ({
        entry_id: `${idOf(chat)}-${place + 1}`.slice(-128).toWellFormed(),
        thread_id: idOf(chat),
        seq: place + 1,
        source: 'update',
        messages: part.map(({ message }) => message),
        created_at: part[0]?.at ?? chat.createdAt,
      }))
    }),
  )
  yield new Uint8Array(2 * blockBytes)
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
function* members(kind: string, records: (() => object[])[]): Generator<Uint8Array<ArrayBuffer>> {
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

function* member(name: string, text: string): Generator<Uint8Array<ArrayBuffer>> {
  const bytes = encoder.encode(text)
  yield header(name, bytes.length)
  yield bytes
  yield new Uint8Array((blockBytes - (bytes.length % blockBytes)) % blockBytes)
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
