import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type WordFile, parts, positionsIn } from './word-file.ts'

/** A run of the text, as it lies in the file. */
export interface Piece {
  start: number
  end: number
  /** Where it begins in the main stream. */
  offset: number
  /** Bytes of a character: 1 of Windows-1252, 2 of UTF-16. */
  width: 1 | 2
  /** What was changed in it since the document was saved as a whole. */
  changes: Buffer
}

const none = Buffer.alloc(0)

/** The pieces of a text in their order ([MS-DOC] 2.8.35). A document never says its bytes twice. */
export function readPieces(file: WordFile): Piece[] {
  const bytes = file.part(parts.pieces)
  const isNarrowFile = file.old?.isWide === false
  if (file.old && bytes.length === 0) return [wholeText(file, file.old.start, isNarrowFile ? 1 : 2)]
  const changes: Buffer[] = []
  let at = 0
  while (bytes[at] === 1 && at + 3 <= bytes.length) {
    const length = bytes.readUInt16LE(at + 1)
    changes.push(bytes.subarray(at + 3, at + 3 + length))
    at += 3 + length
  }
  if (bytes[at] !== 2 || at + 5 > bytes.length) throw damaged()
  const list = positionsIn(bytes.subarray(at + 5, at + 5 + bytes.readUInt32LE(at + 1)), 8)
  const pieces: Piece[] = []
  let characters = 0
  for (let index = 0; index < list.count; index++) {
    const data = list.data(index)
    const given = data.readUInt32LE(2)
    const isNarrow = (given & 0x40_00_00_00) !== 0
    const width = isNarrowFile || isNarrow ? 1 : 2
    const offset = isNarrow ? (given & 0x3f_ff_ff_ff) >>> 1 : given & 0x3f_ff_ff_ff
    const start = list.at(index)
    const room = Math.max(0, Math.floor((file.main.length - offset) / width))
    const end = Math.min(list.at(index + 1), start + room)
    if (end <= start) continue
    characters += end - start
    if (characters > 2 * file.main.length) throw damaged()
    const changed = changeOf(data.readUInt16LE(6), changes)
    // Of old files a change is one of their own properties, or one of the letters of a byte above.
    pieces.push({ start, end, offset, width, changes: file.old ? none : changed })
  }
  return pieces
}

/** A document of before Word 97 that was saved as a whole. */
function wholeText(file: WordFile, offset: number, width: Piece['width']): Piece {
  const room = Math.max(0, Math.floor((file.main.length - offset) / width))
  return { start: 0, end: Math.min(file.stories.headerBoxes.end, room), offset, width, changes: none }
}

const damaged = () => new UnreadableFile('damaged', 'This document is damaged and cannot be read.')

/** The properties that a change of one byte stands for, by its number. */
const shortChanges = new Map([
  [0x18, 0x24_16],
  [0x19, 0x24_17],
  [0x41, 0x08_00],
  [0x5c, 0x08_3c],
  [0x68, 0x2a_48],
])

function changeOf(given: number, changes: Buffer[]): Buffer {
  if ((given & 1) === 1) return changes[given >> 1] ?? none
  const code = shortChanges.get((given >> 1) & 0x7f)
  return code === undefined ? none : Buffer.of(code & 0xff, code >> 8, given >> 8)
}
