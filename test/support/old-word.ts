import { compoundFile } from './compound-file.ts'

/** Properties as Word writes them: the code of each with the bytes of its operand. */
export type Properties = [code: number, ...operand: number[]][]

export interface OldParagraph {
  /** With its last character: `\r`, or `\x07` for the end of a cell or of a row. */
  text: string
  style?: number
  properties?: Properties
  /** Of all its letters. */
  letters?: Properties
}

export interface OldWordOptions {
  /** Bits of the head: 0x100 is a password. */
  flags?: number
  version?: number
  /** How often each piece of the text is listed. */
  copies?: number
  encoding?: 'utf16le' | 'latin1'
}

const textStart = 0x600
const pageBytes = 512

const bytesOf = (properties: Properties = []): Buffer =>
  Buffer.concat(properties.map(([code, ...operand]) => Buffer.of(code & 0xff, code >> 8, ...operand)))

/** A document of Word 97 with a paragraph in each page of properties. */
export function oldWord(paragraphs: OldParagraph[], options: OldWordOptions = {}): Buffer {
  const { flags = 0, version = 0xc1, copies = 1, encoding = 'utf16le' } = options
  const width = encoding === 'latin1' ? 1 : 2
  const text = Buffer.from(paragraphs.map((paragraph) => paragraph.text).join(''), encoding)
  const characters = text.length / width
  const pagesStart = Math.ceil((textStart + text.length) / pageBytes)
  const starts = [textStart]
  for (const paragraph of paragraphs) starts.push((starts.at(-1) ?? 0) + paragraph.text.length * width)
  const pages = paragraphs.flatMap((paragraph, index) => {
    const range: [number, number] = [starts[index] ?? 0, starts[index + 1] ?? 0]
    return [paragraphPage(range, paragraph), letterPage(range, bytesOf(paragraph.letters))]
  })
  const table: Buffer[] = []
  const main = Buffer.alloc(pagesStart * pageBytes + pages.length * pageBytes)
  const part = (number: number, bytes: Buffer) => {
    main.writeUInt32LE(
      table.reduce((sum, { length }) => sum + length, 0),
      0x9a + 8 * number,
    )
    main.writeUInt32LE(bytes.length, 0x9a + 8 * number + 4)
    table.push(bytes)
  }
  main.writeUInt16LE(0xa5_ec, 0)
  main.writeUInt16LE(version, 2)
  main.writeUInt16LE(flags, 10)
  main.writeUInt32LE(characters * copies, 0x4c)
  main.writeUInt16LE(93, 0x98)
  text.copy(main, textStart)
  Buffer.concat(pages).copy(main, pagesStart * pageBytes)
  const pageList = (offset: number) =>
    numbers([...starts, ...paragraphs.map((_, index) => pagesStart + index * 2 + offset)])
  part(13, pageList(0))
  part(12, pageList(1))
  part(33, piecesOf(characters, copies, width))
  return compoundFile({ WordDocument: main, '0Table': Buffer.concat(table) })
}

function numbers(values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, index * 4)
  return bytes
}

function piecesOf(characters: number, copies: number, width: 1 | 2): Buffer {
  const positions = numbers(Array.from({ length: copies + 1 }, (_, index) => index * characters))
  const piece = Buffer.alloc(8)
  piece.writeUInt32LE(width === 1 ? ((textStart * 2) | 0x40_00_00_00) >>> 0 : textStart, 2)
  const list = Buffer.concat([positions, ...Array.from({ length: copies }, () => piece)])
  return Buffer.concat([Buffer.of(2), numbers([list.length]), list])
}

function paragraphPage([start, end]: [number, number], { style = 0, properties }: OldParagraph): Buffer {
  const page = Buffer.alloc(pageBytes)
  const given = bytesOf(properties)
  const own = given.length % 2 === 0 ? given : Buffer.concat([given, Buffer.of(0)])
  numbers([start, end]).copy(page)
  const at = 256
  page.writeUInt8(at / 2, 8)
  page.writeUInt8(0, at)
  page.writeUInt8((own.length + 2) / 2, at + 1)
  page.writeUInt16LE(style, at + 2)
  own.copy(page, at + 4)
  page.writeUInt8(1, pageBytes - 1)
  return page
}

function letterPage([start, end]: [number, number], properties: Buffer): Buffer {
  const page = Buffer.alloc(pageBytes)
  numbers([start, end]).copy(page)
  page.writeUInt8(128, 8)
  page.writeUInt8(properties.length, 256)
  properties.copy(page, 257)
  page.writeUInt8(1, pageBytes - 1)
  return page
}

/**
 * A document of Word 6 in the code page of a language: paragraphs, and properties with codes of one byte. `isWide`: each
 * letter has two bytes.
 */
export function word6(paragraphs: { text: Buffer; properties?: Buffer }[], locale: number, isWide = false): Buffer {
  const main = Buffer.alloc(0x8_00)
  const text = Buffer.concat(paragraphs.map((paragraph) => paragraph.text))
  text.copy(main, 0x4_00)
  main.writeUInt16LE(0xa5_dc, 0)
  main.writeUInt16LE(0x65, 2)
  main.writeUInt16LE(locale, 6)
  main.writeUInt16LE(isWide ? 0x10_00 : 0, 10)
  main.writeUInt32LE(0x4_00, 0x18)
  main.writeUInt32LE(text.length / (isWide ? 2 : 1), 0x34)
  const page = main.subarray(0x6_00)
  const count = paragraphs.length
  let start = 0x4_00
  let at = 256
  for (const [index, { text: own, properties = Buffer.alloc(0) }] of paragraphs.entries()) {
    page.writeUInt32LE(start, index * 4)
    start += own.length
    page.writeUInt8(at / 2, (count + 1) * 4 + index * 7)
    page.writeUInt8(Math.ceil((properties.length + 3) / 2), at)
    properties.copy(page, at + 3)
    at += 32
  }
  page.writeUInt32LE(start, count * 4)
  page.writeUInt8(count, pageBytes - 1)
  numbers([0x4_00, start]).copy(main, 0x3_00)
  main.writeUInt16LE(3, 0x3_08)
  main.writeUInt32LE(0x3_00, 0xc0)
  main.writeUInt32LE(10, 0xc4)
  return compoundFile({ WordDocument: main })
}
