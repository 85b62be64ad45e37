import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { charsetOfLocale } from '../locale-charset.ts'
import { type CompoundFile, openCompoundFile } from '../ole/compound-file.ts'

/** The parts of the table stream by their numbers in the head of the file ([MS-DOC] 2.5.6). */
export const parts = {
  styles: 1,
  footnoteMarks: 2,
  footnotes: 3,
  commentMarks: 4,
  comments: 5,
  headers: 11,
  letters: 12,
  paragraphs: 13,
  fonts: 15,
  pieces: 33,
  commentAuthors: 36,
  shapes: 40,
  endnoteMarks: 46,
  endnotes: 47,
  drawings: 50,
  boxes: 56,
  headerBoxes: 58,
  lists: 73,
  listUses: 74,
} as const

/** The texts of a file, one behind the other. */
const storyNames = ['body', 'footnotes', 'headers', 'macros', 'comments', 'endnotes', 'boxes', 'headerBoxes'] as const
export type Story = (typeof storyNames)[number]

/** A file of Word 97 to 2003, opened. Positions count characters from the start of the body. */
export interface WordFile {
  main: Buffer
  data: Buffer
  /** The bytes of a part, none if the file has none of them. */
  part(number: number): Buffer
  /** The bytes from where a part begins, for what stands behind it. */
  from(number: number): Buffer
  stories: Record<Story, { start: number; end: number }>
  /** Of Word 6 and 95, whose letters are those of a code page, and whose properties have other codes. */
  old: OldText | undefined
}

interface OldText {
  charset: string
  /** Written in Asia: each letter is a number of two bytes, of which the upper one is 0 or the first of a pair. */
  isWide: boolean
  start: number
  /** In some files the lists of pages of properties name only the last of them: the first one and how many. */
  pages: Record<'letters' | 'paragraphs', { first: number; count: number }>
}

const word97 = 0xc1
const word6 = 0x65
const flagEncrypted = 0x01_00
const flagSecondTable = 0x02_00
const flagWideLetters = 0x10_00

/** Opens a document of Word 97 or later. Throws `UnreadableFile`. */
export function openWordFile(bytes: Buffer): WordFile {
  const container = openCompoundFile(bytes)
  const main = container.stream('WordDocument')
  if (main === undefined || main.length < 0x9a) throw damaged()
  const version = main.readUInt16LE(2)
  const flags = main.readUInt16LE(10)
  if ((flags & flagEncrypted) !== 0)
    throw new UnreadableFile('encrypted', 'This document is protected with a password and cannot be read.')
  if (version < word6)
    throw new UnreadableFile('unsupported', 'This document was written by Word 2 or older. Save it as DOCX.')
  if (version < word97) return openOldFile(main)
  const table = tableOf(container, (flags & flagSecondTable) !== 0)
  const count = main.readUInt16LE(0x98)
  const place = (number: number) => {
    const at = 0x9a + 8 * number
    if (number >= count || at + 8 > main.length) return { start: 0, length: 0 }
    return { start: main.readUInt32LE(at), length: main.readUInt32LE(at + 4) }
  }
  return {
    main,
    data: container.stream('Data') ?? Buffer.alloc(0),
    part(number) {
      const { start, length } = place(number)
      return table.subarray(start, Math.min(table.length, start + length))
    },
    from(number) {
      const { start, length } = place(number)
      return length === 0 ? Buffer.alloc(0) : table.subarray(start)
    },
    stories: storiesOf(main, 0x4c),
    old: undefined,
  }
}

/** The head is shorter, all is in one stream, and text boxes and lists are elsewhere: they are left out. */
function openOldFile(main: Buffer): WordFile {
  if (main.length < 0x2_00) throw damaged()
  const place = (number: number) => {
    if (number > 36 && number !== parts.endnoteMarks && number !== parts.endnotes) return { start: 0, length: 0 }
    const at = number > 36 ? 0x1_d2 + 8 * (number - parts.endnoteMarks) : 0x58 + 8 * number
    return { start: main.readUInt32LE(at), length: main.readUInt32LE(at + 4) }
  }
  const isOfMac = main.readUInt16LE(0x14) === 0x1_00
  return {
    main,
    data: Buffer.alloc(0),
    part(number) {
      const { start, length } = place(number)
      return main.subarray(start, Math.min(main.length, start + length))
    },
    from: () => Buffer.alloc(0),
    stories: storiesOf(main, 0x34),
    old: {
      isWide: (main.readUInt16LE(10) & flagWideLetters) !== 0,
      charset: isOfMac ? 'macintosh' : charsetOfLocale(main.readUInt16LE(6)),
      start: main.readUInt32LE(0x18),
      pages: {
        letters: { first: main.readUInt16LE(0x1_8a), count: main.readUInt16LE(0x1_8e) },
        paragraphs: { first: main.readUInt16LE(0x1_8c), count: main.readUInt16LE(0x1_90) },
      },
    },
  }
}

function tableOf(container: CompoundFile, isSecond: boolean): Buffer {
  const [first, second] = isSecond ? ['1Table', '0Table'] : ['0Table', '1Table']
  const table = container.stream(first) ?? container.stream(second)
  if (table === undefined) throw damaged()
  return table
}

const damaged = () => new UnreadableFile('damaged', 'This document is damaged and cannot be read.')

function storiesOf(main: Buffer, lengths: number): WordFile['stories'] {
  let start = 0
  const next = (index: number) => {
    const story = { start, end: start + Math.max(0, main.readInt32LE(lengths + 4 * index)) }
    start = story.end
    return story
  }
  return {
    body: next(0),
    footnotes: next(1),
    headers: next(2),
    macros: next(3),
    comments: next(4),
    endnotes: next(5),
    boxes: next(6),
    headerBoxes: next(7),
  }
}

/** A list of positions with data of a fixed size between them ([MS-DOC] 2.2.2). */
export interface Positions {
  count: number
  /** Up to `count`, which is included. */
  at(index: number): number
  data(index: number): Buffer
}

/** Reads a list of positions; `size`: of the data of each. */
export function positionsIn(bytes: Buffer, size: number): Positions {
  const count = Math.max(0, Math.floor((bytes.length - 4) / (4 + size)))
  const first = (count + 1) * 4
  return {
    count,
    at: (index) => bytes.readUInt32LE(index * 4),
    data: (index) => bytes.subarray(first + index * size, first + (index + 1) * size),
  }
}

/** What `read` gives, or else `otherwise` where the bytes end too early: a document is read without such a part. */
export function unlessCut<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) return otherwise
    throw error
  }
}
