import { asNewProperties } from './old-properties.ts'
import { type Positions, type WordFile, positionsIn } from './word-file.ts'

const pageBytes = 512

/** Bytes of the main stream that have the same properties. */
export interface Run {
  /** Where it ends. */
  end: number
  style: number
  properties: Buffer
}

interface Page {
  starts: number[]
  /** Where the properties stand in the page, 0 for none. */
  places: number[]
  bytes: Buffer
}

const none: Buffer = Buffer.alloc(0)

/** Finds the properties of bytes of the main stream, which stand in pages of 512 bytes ([MS-DOC] 2.9.33, 2.9.175). */
export function createRuns(
  file: WordFile,
  part: number,
  kind: 'letters' | 'paragraphs',
): (offset: number, floor?: number) => Run {
  const list = file.old ? oldList(file, part, file.old.pages[kind]) : positionsIn(file.part(part), 4)
  let last: { index: number; page: Page } | undefined

  function pageAt(index: number): Page {
    if (last?.index !== index) last = { index, page: readPage(file, pageNumber(list.data(index)), kind) }
    return last.page
  }

  return (offset) => {
    const index = lastNotAbove(list.count, (at) => list.at(at), offset)
    if (index < 0)
      return { end: list.count > 0 ? Math.max(offset + 1, list.at(0)) : Infinity, style: 0, properties: none }
    const next = index + 1 < list.count ? list.at(index + 1) : Infinity
    const page = pageAt(index)
    const position = lastNotAbove(page.starts.length, (at) => page.starts[at] ?? 0, offset)
    const end = Math.max(offset + 1, Math.min(page.starts[position + 1] ?? next, next))
    const at = page.places[position] ?? 0
    if (at === 0) return { end, style: 0, properties: none }
    const found = kind === 'letters' ? letterProperties(page.bytes, at) : paragraphProperties(page.bytes, at)
    return { end, style: found.style, properties: file.old ? asNewProperties(found.properties) : found.properties }
  }
}

const pageNumber = (data: Buffer): number => (data.length === 2 ? data.readUInt16LE(0) : data.readUInt32LE(0))

/** Where the list is not whole, what stands at the beginning of each page says where it begins. */
function oldList(file: WordFile, part: number, { first, count }: { first: number; count: number }): Positions {
  const list = positionsIn(file.part(part), 2)
  const pages = Math.min(count, Math.floor(file.main.length / pageBytes) - first)
  if (list.count >= count || pages <= 0) return list
  return {
    count: pages,
    at: (index) => (index < pages ? file.main.readUInt32LE((first + index) * pageBytes) : file.main.length),
    data: (index) => Buffer.of((first + index) & 0xff, (first + index) >> 8),
  }
}

/** The last index whose value is not above another one; -1 if there is none. */
function lastNotAbove(count: number, valueAt: (index: number) => number, limit: number): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (valueAt(middle) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}

function readPage(file: WordFile, number: number, kind: 'letters' | 'paragraphs'): Page {
  const at = (number & 0x3f_ff_ff) * pageBytes
  const bytes = file.main.subarray(at, at + pageBytes)
  if (bytes.length < pageBytes) return { starts: [], places: [], bytes }
  const [size, most] = kind === 'letters' ? [1, 101] : file.old ? [7, 46] : [13, 29]
  const count = Math.min(bytes.readUInt8(pageBytes - 1), most)
  const starts: number[] = []
  const positions: number[] = []
  for (let index = 0; index <= count; index++) {
    starts.push(bytes.readUInt32LE(index * 4))
    positions.push(index < count ? bytes.readUInt8((count + 1) * 4 + index * size) * 2 : 0)
  }
  return { starts, places: positions, bytes }
}

function letterProperties(page: Buffer, at: number): Omit<Run, 'end'> {
  const length = page[at] ?? 0
  return { style: 0, properties: page.subarray(at + 1, at + 1 + length) }
}

function paragraphProperties(page: Buffer, at: number): Omit<Run, 'end'> {
  const words = page[at] ?? 0
  const start = words === 0 ? at + 2 : at + 1
  const length = words === 0 ? (page[at + 1] ?? 0) * 2 : words * 2 - 1
  if (start + 2 > page.length || length < 2) return { style: 0, properties: none }
  return { style: page.readUInt16LE(start), properties: page.subarray(start + 2, start + length) }
}
