import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { createFonts } from '../rtf/fonts.ts'
import { createCounters } from '../word/numbering.ts'
import { createDocBody } from './body.ts'
import { type DocFont, readFonts } from './fonts.ts'
import { readLists } from './lists.ts'
import { readPieces } from './pieces.ts'
import { createRuns } from './runs.ts'
import { pictureDescription, shapePositions } from './shapes.ts'
import { type StorySource, paragraphsOf } from './story.ts'
import { readStyles } from './styles.ts'
import { type Story, type WordFile, openWordFile, parts, positionsIn, unlessCut } from './word-file.ts'

const maxNotes = 20_000
const maxNoteCharacters = 20_000
const maxHeaders = 600

type Range = WordFile['stories'][Story]
type Marks = Map<number, (() => Block[])[]>

/** The text of a document, in reading order. Throws `UnreadableFile`, or a RangeError where it is cut. */
export function* readDocText(bytes: Buffer): Generator<Block> {
  const file = openWordFile(bytes)
  const { stories } = file
  const counters = unlessCut(
    () => createCounters(readLists(file.from(parts.lists), file.part(parts.listUses))),
    undefined,
  )
  const source = sourceOf(file)
  const marks: Marks = new Map()
  const plain = (range: Range) => textOf({ ...source, marks: [] }, range)
  unlessCut(() => addNotes(file, marks, plain), undefined)
  unlessCut(() => addComments(file, marks, plain), undefined)
  const left = unlessCut(
    () => addBoxes(file, marks, (range) => blocksOf({ ...source, marks: [] }, range, counters)),
    [],
  )

  const edges = unlessCut(() => edgesOf(file, plain), { above: [], below: [] })
  for (const text of edges.above) yield { kind: 'text', text }
  const body = createDocBody({ counters, marked: (position) => (marks.get(position) ?? []).flatMap((read) => read()) })
  const placed = { ...source, marks: [...marks.keys()].toSorted((a, b) => a - b) }
  for (const paragraph of paragraphsOf(placed, stories.body)) {
    body.add(paragraph)
    yield* body.take()
  }
  body.end()
  yield* body.take()
  for (const read of left) yield* read()
  for (const text of edges.below) yield { kind: 'text', text }
}

function sourceOf(file: WordFile): StorySource {
  const fonts = unlessCut(() => readFonts(file.part(parts.fonts), file.old !== undefined), [])
  let budget = 4 * file.data.length + 1_000_000
  return {
    main: file.main,
    pieces: readPieces(file),
    letters: createRuns(file, parts.letters, 'letters'),
    paragraphs: createRuns(file, parts.paragraphs, 'paragraphs'),
    style: unlessCut(() => readStyles(file.part(parts.styles), file.old !== undefined), readStyles(Buffer.alloc(0))),
    fonts,
    decode: file.old && decoderOf(fonts, file.old),
    more(offset) {
      if (offset + 2 > file.data.length) return undefined
      const length = file.data.readUInt16LE(offset)
      budget -= length
      // Properties of many rows in one place.
      if (budget < 0) throw new UnreadableFile('damaged', 'This document is damaged and cannot be read.')
      return file.data.subarray(offset + 2, offset + 2 + length)
    },
    formField: (offset, code) => unlessCut(() => formField(file.data, offset, code), ''),
    picture: (offset) => unlessCut(() => pictureDescription(file.data, offset), ''),
    marks: [],
  }
}

/** Texts before Unicode are in the code page of their font, or of the language of the document. */
function decoderOf(
  fonts: DocFont[],
  { charset, isWide }: NonNullable<WordFile['old']>,
): (text: string, font: number | undefined) => string {
  const pages = createFonts(charset)
  for (const [font, { name, charset: number }] of fonts.entries()) {
    pages.add(font, number)
    pages.name(font, name)
  }
  return (text, font) => pages.decode(isWide ? inBytes(text) : text, font)
}

/** The bytes of letters of two bytes each, as letters. */
const inBytes = (text: string): string =>
  text.replace(/[^\0-\xff]/g, (letter) => {
    const [first, second] = [letter.charCodeAt(0) >> 8, letter.charCodeAt(0) & 0xff]
    return first < 0x20 ? String.fromCharCode(second) : String.fromCharCode(first, second)
  })

function blocksOf(source: StorySource, range: Range, counters: ReturnType<typeof createCounters> | undefined): Block[] {
  const body = createDocBody({ counters, marked: () => [] })
  for (const paragraph of paragraphsOf(source, range)) body.add(paragraph)
  body.end()
  return body.take()
}

const textOf = (source: StorySource, range: Range): string =>
  blocksOf(source, range, undefined)
    .map(({ text }) => text)
    .join('\n')
    .slice(0, maxNoteCharacters)
    .trim()

function mark(marks: Marks, position: number, read: () => Block[]): void {
  const known = marks.get(position)
  if (known === undefined) marks.set(position, [read])
  else known.push(read)
}

/** Parts of a text as its positions say, but never outside of it, and none that is said twice. */
function rangesOf(story: Range, positions: ReturnType<typeof positionsIn>): Range[] {
  const ranges: Range[] = []
  let from = story.start
  for (let index = 0; index < Math.min(positions.count, maxNotes); index++) {
    const start = Math.max(from, story.start + positions.at(index))
    const end = Math.min(story.end, story.start + positions.at(index + 1))
    ranges.push({ start, end: Math.max(start, end) })
    from = Math.max(start, end)
  }
  return ranges
}

function addNotes(file: WordFile, marks: Marks, read: (range: Range) => string): void {
  const kinds = [
    [parts.footnoteMarks, parts.footnotes, 'footnotes'],
    [parts.endnoteMarks, parts.endnotes, 'endnotes'],
  ] as const
  for (const [places, texts, story] of kinds) {
    const positions = positionsIn(file.part(places), 2)
    const ranges = rangesOf(file.stories[story], positionsIn(file.part(texts), 0))
    for (let index = 0; index < Math.min(positions.count, ranges.length); index++) {
      const range = ranges[index]
      if (range) mark(marks, positions.at(index), () => asText(read(range)))
    }
  }
}

const asText = (text: string): Block[] => (text === '' ? [] : [{ kind: 'text', text }])

function addComments(file: WordFile, marks: Marks, read: (range: Range) => string): void {
  const positions = positionsIn(file.part(parts.commentMarks), file.old ? 20 : 30)
  const ranges = rangesOf(file.stories.comments, positionsIn(file.part(parts.comments), 0))
  const authors = file.old ? [] : authorsIn(file.part(parts.commentAuthors))
  for (let index = 0; index < Math.min(positions.count, ranges.length); index++) {
    const range = ranges[index]
    const author = (authors[file.old ? 0 : positions.data(index).readUInt16LE(20)] ?? '').trim()
    const by = author === '' ? '' : ` by ${author}`
    if (range)
      mark(marks, positions.at(index), () => {
        const text = read(range)
        return text === '' ? [] : [{ kind: 'text', text: `(comment${by}: ${text})` }]
      })
  }
}

function authorsIn(bytes: Buffer): string[] {
  const authors: string[] = []
  for (let at = 0; at + 2 <= bytes.length && authors.length < maxNotes;) {
    const end = at + 2 + bytes.readUInt16LE(at) * 2
    authors.push(
      bytes
        .subarray(at + 2, end)
        .toString('utf16le')
        .slice(0, 100),
    )
    at = end
  }
  return authors
}

/** Text boxes where they hang. Returns those of which the file does not say it. */
function addBoxes(file: WordFile, marks: Marks, read: (range: Range) => Block[]): (() => Block[])[] {
  const list = positionsIn(file.part(parts.boxes), 22)
  const ranges = rangesOf(file.stories.boxes, list)
  const { places, described } = unlessCut(() => shapePositions(file), {
    places: new Map<number, number>(),
    described: [],
  })
  for (const { position, description } of described) mark(marks, position, () => asText(description))
  const left: (() => Block[])[] = []
  for (const [index, range] of ranges.entries()) {
    const offset = places.get(list.data(index).readUInt32LE(14))
    const box = () => read(range)
    if (offset === undefined) left.push(box)
    else mark(marks, offset, box)
  }
  return left
}

/** What stands above and below each page: once for a document. */
function edgesOf(file: WordFile, read: (range: Range) => string): { above: string[]; below: string[] } {
  const above = new Set<string>()
  const below = new Set<string>()
  const ranges = rangesOf(file.stories.headers, positionsIn(file.part(parts.headers), 0))
  // Which of them there are is said elsewhere.
  if (file.old) for (const range of ranges) for (const text of linesOf(read(range))) below.add(text)
  // The first six are lines between a text and its notes; then each section has two headers, two footers, and one of
  // each for its first page.
  for (const [index, range] of file.old ? [] : ranges.slice(6, 6 + maxHeaders).entries()) {
    const isBelow = [2, 3, 5].includes(index % 6)
    for (const text of linesOf(read(range))) (isBelow ? below : above).add(text)
  }
  for (const text of linesOf(read(file.stories.headerBoxes))) above.add(text)
  return { above: [...above], below: [...below] }
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => /\p{L}/u.test(line))

const maxChoices = 200

/** What a box to tick or a list to choose from shows, by its data at `offset` ([MS-DOC] 2.9.78). */
function formField(data: Buffer, offset: number, code: string): string {
  const kind = /^\s*FORM(CHECKBOX|DROPDOWN)\b/.exec(code)?.[1]
  if (kind === undefined || offset + 6 > data.length) return ''
  const length = data.readUInt32LE(offset)
  const field = data.subarray(offset + data.readUInt16LE(offset + 4), offset + length)
  if (field.length < 10) return ''
  const given = (field.readUInt16LE(4) >> 2) & 0x1f
  const texts = textsAt(field, 10, 1)
  const usual = texts.end + 2 <= field.length ? field.readUInt16LE(texts.end) : 0
  const chosen = given === 25 ? usual : given
  if (kind === 'CHECKBOX') return chosen === 1 ? '[x] ' : '[ ] '
  return choicesOf(field, texts.end + 2)[chosen] ?? ''
}

/** Behind the name of the field stand texts for those who fill it in, then the choices. */
function choicesOf(field: Buffer, start: number): string[] {
  let at = start
  // Format, help, status, and macros on entry and exit.
  at = textsAt(field, at, 5).end
  if (at + 8 > field.length || field.readUInt16LE(at) !== 0xff_ff) return []
  const count = Math.min(field.readUInt32LE(at + 2), maxChoices)
  const choices: string[] = []
  at += 8
  while (choices.length < count && at + 2 <= field.length) {
    const end = at + 2 + field.readUInt16LE(at) * 2
    choices.push(field.subarray(at + 2, end).toString('utf16le'))
    at = end
  }
  return choices
}

function textsAt(field: Buffer, start: number, count: number): { texts: string[]; end: number } {
  const texts: string[] = []
  let at = start
  while (texts.length < count && at + 2 <= field.length) {
    const end = at + 2 + field.readUInt16LE(at) * 2
    texts.push(field.subarray(at + 2, end).toString('utf16le'))
    at = end + 2
  }
  return { texts, end: at }
}
