import { asNewProperties } from './old-properties.ts'
import {
  type LetterProperties,
  type ParagraphProperties,
  addLetterProperties,
  addParagraphProperties,
} from './properties.ts'

/** A style, with what it inherits. */
export interface DocStyle {
  paragraph: ParagraphProperties
  letters: LetterProperties
  /** Of a heading, from 1. */
  level: number | undefined
}

interface Definition {
  base: number
  paragraph: Buffer
  letters: Buffer
  level: number | undefined
}

const maxStyles = 4095
const deepest = 20
const none = Buffer.alloc(0)
const plain: DocStyle = { paragraph: {}, letters: {}, level: undefined }

/** The styles of a document by their numbers ([MS-DOC] 2.9.271). */
export function readStyles(bytes: Buffer, isOld = false): (style: number | undefined) => DocStyle {
  const definitions = bytes.length < 6 ? [] : readDefinitions(bytes, isOld)
  const known = new Map<number, DocStyle>()

  function styleAt(number: number | undefined): DocStyle {
    if (number === undefined) return plain
    const found = known.get(number) ?? inherited(definitions, number)
    known.set(number, found)
    return found
  }
  return styleAt
}

function readDefinitions(bytes: Buffer, isOld: boolean): (Definition | undefined)[] {
  const headLength = bytes.readUInt16LE(0)
  const count = Math.min(bytes.readUInt16LE(2), maxStyles)
  const baseLength = bytes.readUInt16LE(4)
  const definitions: (Definition | undefined)[] = []
  let at = 2 + headLength
  for (let index = 0; index < count && at + 2 <= bytes.length; index++) {
    const length = bytes.readUInt16LE(at)
    definitions.push(readDefinition(bytes.subarray(at + 2, at + 2 + length), baseLength, isOld))
    at += 2 + length + (length % 2)
  }
  return definitions
}

const titleStyle = 62
const kinds = { paragraph: 1, letters: 2 }

function readDefinition(bytes: Buffer, baseLength: number, isOld: boolean): Definition | undefined {
  if (bytes.length < Math.max(8, baseLength + 2)) return undefined
  const builtIn = bytes.readUInt16LE(0) & 0xf_ff
  const kind = bytes.readUInt16LE(2) & 0xf
  const base = bytes.readUInt16LE(2) >> 4
  const { name, end } = isOld ? oldNameAt(bytes, baseLength) : nameAt(bytes, baseLength)
  const [first, second] = partsAt(bytes, end, isOld)
  return {
    base,
    paragraph: kind === kinds.paragraph ? first.subarray(2) : none,
    letters: kind === kinds.paragraph ? second : kind === kinds.letters ? first : none,
    level: kind === kinds.paragraph ? levelOf(builtIn, name) : undefined,
  }
}

function nameAt(bytes: Buffer, at: number): { name: string; end: number } {
  const end = at + 2 + bytes.readUInt16LE(at) * 2
  return { name: bytes.subarray(at + 2, end).toString('utf16le'), end: end + 2 }
}

function oldNameAt(bytes: Buffer, at: number): { name: string; end: number } {
  const end = at + 1 + bytes.readUInt8(at)
  return { name: bytes.subarray(at + 1, end).toString('latin1'), end: end + 1 + ((end + 1) % 2) }
}

function partsAt(bytes: Buffer, start: number, isOld: boolean): [Buffer, Buffer] {
  const found: Buffer[] = []
  let at = start
  while (found.length < 2 && at + 2 <= bytes.length) {
    const length = bytes.readUInt16LE(at)
    found.push(bytes.subarray(at + 2, at + 2 + length))
    at += 2 + length + (length % 2)
  }
  const [first = none, second = none] = found
  return isOld
    ? [Buffer.concat([first.subarray(0, 2), asNewProperties(first.subarray(2))]), asNewProperties(second)]
    : [first, second]
}

function levelOf(builtIn: number, name: string): number | undefined {
  if (builtIn >= 1 && builtIn <= 9) return builtIn
  if (builtIn === titleStyle || /^title$/i.test(name)) return 1
  const level = /^heading ([1-9])$/i.exec(name)?.[1]
  return level === undefined ? undefined : Number(level)
}

function inherited(definitions: (Definition | undefined)[], number: number): DocStyle {
  const line: Definition[] = []
  let next = number
  while (line.length < deepest) {
    const definition = definitions[next]
    if (definition === undefined) break
    line.push(definition)
    next = definition.base
  }
  const style: DocStyle = { paragraph: {}, letters: {}, level: line.find(({ level }) => level !== undefined)?.level }
  for (const { paragraph, letters } of line.toReversed()) {
    addParagraphProperties(style.paragraph, paragraph, () => undefined)
    addLetterProperties(style.letters, letters)
  }
  return style
}
