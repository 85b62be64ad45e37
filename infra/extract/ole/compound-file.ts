import { addAll } from '../../../domain/add-all.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'

const signature = Buffer.from('d0cf11e0a1b11ae1', 'hex')
/** Numbers of sectors from here on are marks: the end of a chain, a free sector. */
const firstMark = 0xff_ff_ff_fa
const headerBytes = 512
const entryBytes = 128
/** Entries of the root folder; documents have fewer than twenty. */
const maxRootEntries = 10_000

/** A container of streams, in which programs of Office 97 to 2003 keep a document ([MS-CFB]). */
export interface CompoundFile {
  /** Whether there is a stream or folder of this name in its root folder. */
  has(name: string): boolean
  /** The bytes of a stream of the root folder; as many as there are where its end is missing. */
  stream(name: string): Buffer | undefined
}

interface Entry {
  name: string
  isStream: boolean
  start: number
  size: number
}

export const isCompoundFile = (bytes: Buffer): boolean => bytes.subarray(0, signature.length).equals(signature)

/**
 * Opens a container. No chain of sectors is longer than the file, so that one in a circle ends. Throws `UnreadableFile`
 * if there is no root folder.
 */
export function openCompoundFile(bytes: Buffer): CompoundFile {
  if (bytes.length < headerBytes || !isCompoundFile(bytes)) throw damaged()
  const shift = bytes.readUInt16LE(30)
  if (shift !== 9 && shift !== 12) throw damaged()
  const sectorBytes = 2 ** shift
  const sectors = Math.ceil(bytes.length / sectorBytes)
  const sector = (number: number) => bytes.subarray((number + 1) * sectorBytes, (number + 2) * sectorBytes)
  const table = readSectorTable(bytes, sectors, sector)
  const chain = (start: number, next: Uint32Array, length = Infinity) => chainOf(start, next, length)
  const read = (start: number, size = Infinity) =>
    Buffer.concat(chain(start, table, Math.ceil(size / sectorBytes)).map(sector)).subarray(
      0,
      Math.min(size, bytes.length),
    )

  const folder = read(bytes.readUInt32LE(48))
  const root = entryAt(folder, 0)
  if (root === undefined) throw damaged()
  const entries = rootEntries(folder)
  const smallLimit = bytes.readUInt32LE(56)
  let small: { bytes: Buffer; next: Uint32Array } | undefined

  function readSmall(start: number, size: number): Buffer {
    small ??= { bytes: read(root?.start ?? firstMark, root?.size), next: numbersIn(read(bytes.readUInt32LE(60))) }
    const { bytes: all, next } = small
    const pieces = chain(start, next, Math.ceil(size / 64)).map((at) => all.subarray(at * 64, (at + 1) * 64))
    return Buffer.concat(pieces).subarray(0, size)
  }

  return {
    has: (name) => entries.has(comparable(name)),
    stream(name) {
      const entry = entries.get(comparable(name))
      if (entry?.isStream !== true) return undefined
      return entry.size < smallLimit ? readSmall(entry.start, entry.size) : read(entry.start, entry.size)
    },
  }
}

/** Names are the same whatever the case of their letters. */
const comparable = (name: string): string => name.toUpperCase()

const damaged = () => new UnreadableFile('damaged', 'This document is damaged and cannot be read.')

/** For each sector the one that follows it. */
function readSectorTable(bytes: Buffer, sectors: number, sector: (number: number) => Buffer): Uint32Array {
  const parts: number[] = []
  for (let at = 76; at < headerBytes; at += 4) parts.push(bytes.readUInt32LE(at))
  let more = bytes.readUInt32LE(68)
  for (let read = 0; more < firstMark && read < sectors; read++) {
    const numbers = numbersIn(sector(more))
    addAll(parts, numbers.subarray(0, -1))
    more = numbers.at(-1) ?? firstMark
  }
  const used = parts.filter((number) => number < sectors).slice(0, sectors)
  return numbersIn(Buffer.concat(used.map(sector)))
}

function numbersIn(bytes: Buffer): Uint32Array {
  const numbers = new Uint32Array(Math.floor(bytes.length / 4))
  for (let index = 0; index < numbers.length; index++) numbers[index] = bytes.readUInt32LE(index * 4)
  return numbers
}

/** Each sector at most once, however long the stream claims to be. */
function chainOf(start: number, next: Uint32Array, length: number): number[] {
  const chain: number[] = []
  const seen = new Set<number>()
  for (let at = start; at < next.length && chain.length < length && !seen.has(at); at = next[at] ?? firstMark) {
    seen.add(at)
    chain.push(at)
  }
  return chain
}

function entryAt(folder: Buffer, index: number): (Entry & { left: number; right: number; child: number }) | undefined {
  const at = index * entryBytes
  if (at + entryBytes > folder.length) return undefined
  const nameBytes = Math.min(64, folder.readUInt16LE(at + 64))
  return {
    name: folder.subarray(at, at + Math.max(0, nameBytes - 2)).toString('utf16le'),
    isStream: folder.readUInt8(at + 66) === 2,
    left: folder.readUInt32LE(at + 68),
    right: folder.readUInt32LE(at + 72),
    child: folder.readUInt32LE(at + 76),
    start: folder.readUInt32LE(at + 116),
    size: folder.readUInt32LE(at + 120),
  }
}

/** The entries that hang on the root: a document that is within this one has streams of the same names. */
function rootEntries(folder: Buffer): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  const seen = new Set<number>()
  const open = [entryAt(folder, 0)?.child ?? firstMark]
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (index >= firstMark || seen.has(index) || seen.size >= maxRootEntries) continue
    seen.add(index)
    const entry = entryAt(folder, index)
    if (entry === undefined) continue
    const name = comparable(entry.name)
    if (!entries.has(name)) entries.set(name, entry)
    open.push(entry.left, entry.right)
  }
  return entries
}
