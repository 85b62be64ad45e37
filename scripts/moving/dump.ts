import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { parseForeignJson } from '../../domain/foreign-json.ts'
import { isJsonObject } from '../../domain/json.ts'

/** What a dump may contain, in the order in which it is imported: what others name comes first. */
export const dumpKinds = ['file', 'vector_store', 'vector_store.file', 'assistant', 'thread', 'thread.message'] as const
export type DumpKind = (typeof dumpKinds)[number]

/** Where an object stands in the dump. */
export interface DumpEntry {
  kind: DumpKind
  id: string
  /** The thread of a message, the vector store of a file. */
  parent: string | undefined
  /** Seconds since 1970. */
  createdAt: number
  line: number
  at: number
  bytes: number
}

export const dumpLimits = { lineBytes: 4 * 1024 * 1024, lines: 1_000_000 }
const idPattern = /^[\w.:-]{1,200}$/
const newline = 0x0a

/**
 * The places of all objects of a dump. Lines that are no such objects go to `refuse`. Throws if the dump has more lines
 * than `dumpLimits.lines`.
 */
export async function indexDump(file: string, refuse: (place: string, reason: string) => void): Promise<DumpEntry[]> {
  const entries: DumpEntry[] = []
  const seen = new Set<string>()
  let line = 0
  for await (const { at, text, bytes } of linesWithPlaces(file)) {
    line += 1
    if (line > dumpLimits.lines) throw new Error(`${file} has more than ${dumpLimits.lines} lines. Split it.`)
    if (bytes === 0 || text?.trim() === '') continue
    const place = `line ${line}`
    if (text === undefined) {
      refuse(place, `is longer than ${dumpLimits.lineBytes} bytes`)
      continue
    }
    const entry = entryOf(text)
    if (typeof entry === 'string') refuse(place, entry)
    else {
      const name = JSON.stringify([entry.kind, entry.parent, entry.id])
      if (seen.has(name)) refuse(place, `${entry.kind} ${entry.id} is there twice; the first is taken`)
      else entries.push({ ...entry, line, at, bytes })
      seen.add(name)
    }
  }
  return entries
}

/** Reads objects of an indexed dump. */
export async function openDump(file: string) {
  const handle: FileHandle = await open(file)
  return {
    async read({ at, bytes }: DumpEntry): Promise<Record<string, unknown>> {
      const { buffer } = await handle.read(Buffer.alloc(bytes), 0, bytes, at)
      const value = parseForeignJson(buffer.toString('utf8'), { bytes: dumpLimits.lineBytes })
      if (!isJsonObject(value)) throw new Error('The dump has changed while it was read.')
      return value
    },
    close: () => handle.close(),
  }
}

type Indexed = Pick<DumpEntry, 'kind' | 'id' | 'parent' | 'createdAt'>

/** A text says why there is none. */
function entryOf(text: string): Indexed | string {
  let value: unknown
  try {
    value = parseForeignJson(text, { bytes: dumpLimits.lineBytes })
  } catch (error) {
    return error instanceof SyntaxError ? 'is not JSON' : error instanceof Error ? error.message : String(error)
  }
  if (!isJsonObject(value)) return 'is not an object'
  const { object, id, created_at: createdAt } = value
  const kind = dumpKinds.find((known) => known === object)
  if (kind === undefined) return `is not one of ${dumpKinds.join(', ')}`
  if (!isId(id)) return 'has no id'
  const needed = kind === 'thread.message' ? 'thread_id' : kind === 'vector_store.file' ? 'vector_store_id' : undefined
  const parent = needed === undefined ? undefined : value[needed]
  if (needed !== undefined && !isId(parent)) return `has no ${needed}`
  return {
    kind,
    id,
    parent: isId(parent) ? parent : undefined,
    createdAt: typeof createdAt === 'number' ? createdAt : 0,
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && idPattern.test(value)

/** `text` is undefined for a line that is too long, which is not kept. */
async function* linesWithPlaces(file: string): AsyncGenerator<{ at: number; bytes: number; text: string | undefined }> {
  let pieces: Buffer[] = []
  let bytes = 0
  let at = 0
  const line = () => {
    const isTooLong = bytes > dumpLimits.lineBytes
    const ended = { at, bytes, text: isTooLong ? undefined : Buffer.concat(pieces).toString('utf8') }
    at += bytes + 1
    pieces = []
    bytes = 0
    return ended
  }
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      take(chunk.subarray(start, end))
      yield line()
      start = end + 1
    }
    take(chunk.subarray(start))
  }
  if (bytes > 0) yield line()

  function take(piece: Buffer): void {
    bytes += piece.length
    if (bytes > dumpLimits.lineBytes) pieces = []
    else if (piece.length > 0) pieces.push(piece)
  }
}
