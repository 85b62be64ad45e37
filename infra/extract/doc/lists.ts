import type { Level, Numbering } from '../word/numbering.ts'

const maxLists = 5000
const maxLevels = 9
const longestNumber = 100
const formats = new Map([
  [1, 'upperRoman'],
  [2, 'lowerRoman'],
  [3, 'upperLetter'],
  [4, 'lowerLetter'],
  [22, 'decimalZero'],
  [23, 'bullet'],
  [255, 'none'],
])

/**
 * The automatic numbers of a document ([MS-DOC] 2.9.132, 2.9.193). `lists`: from where the lists begin, as their levels
 * stand behind them; `uses`: what paragraphs name by their numbers.
 */
export function readLists(lists: Buffer, uses: Buffer): Numbering {
  const numbering: Numbering = { lists: new Map(), abstracts: new Map() }
  if (lists.length >= 2) readDefinitions(lists, numbering)
  if (uses.length >= 4) readUses(uses, numbering)
  return numbering
}

function readDefinitions(bytes: Buffer, { abstracts }: Numbering): void {
  const count = Math.min(bytes.readUInt16LE(0), maxLists)
  let at = 2 + count * 28
  for (let index = 0; index < count; index++) {
    const head = bytes.subarray(2 + index * 28, 2 + (index + 1) * 28)
    const levels = new Map<number, Level>()
    const styles = new Map<string, number>()
    abstracts.set(String(head.readUInt32LE(0)), { levels, styles })
    const isSimple = (head.readUInt8(26) & 1) === 1
    for (let index = 0; index < (isSimple ? 1 : maxLevels); index++) {
      const style = head.readUInt16LE(8 + index * 2)
      if (style !== 0xf_ff) styles.set(String(style), index)
      const { level, length } = readLevel(bytes, at)
      levels.set(index, level)
      at += length
    }
  }
}

function readLevel(bytes: Buffer, at: number): { level: Level; length: number } {
  const text = at + 28 + bytes.readUInt8(at + 24) + bytes.readUInt8(at + 25)
  const count = bytes.readUInt16LE(text)
  const given = bytes.subarray(text + 2, text + 2 + Math.min(count, longestNumber) * 2).toString('utf16le')
  return {
    level: {
      start: bytes.readInt32LE(at),
      format: formats.get(bytes.readUInt8(at + 4)) ?? 'decimal',
      text: given.replace(/[\0-\x08]/g, (place) => `%${place.charCodeAt(0) + 1}`),
      isLegal: (bytes.readUInt8(at + 5) & 4) !== 0,
    },
    length: text + 2 + count * 2 - at,
  }
}

function readUses(bytes: Buffer, { lists }: Numbering): void {
  const count = Math.min(bytes.readUInt32LE(0), maxLists)
  let at = 4 + count * 16
  for (let index = 0; index < count; index++) {
    const head = 4 + index * 16
    const list = {
      abstract: String(bytes.readUInt32LE(head)),
      starts: new Map<number, number>(),
      levels: new Map<number, Level>(),
    }
    lists.set(String(index + 1), list)
    const changed = Math.min(bytes.readUInt8(head + 12), maxLevels)
    // Where what follows is cut off, the lists are known.
    if (at + 4 > bytes.length) continue
    at += 4
    for (let change = 0; change < changed && at + 8 <= bytes.length; change++) {
      const flags = bytes.readUInt32LE(at + 4)
      const place = flags & 0xf
      if ((flags & 0x10) !== 0) list.starts.set(place, bytes.readInt32LE(at))
      at += 8
      if ((flags & 0x20) === 0) continue
      const { level, length } = readLevel(bytes, at)
      list.levels.set(place, level)
      list.starts.delete(place)
      at += length
    }
  }
}
