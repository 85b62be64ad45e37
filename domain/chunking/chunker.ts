import { type Block, maxCaptionCharacters } from './block.ts'
import { type ChunkerOptions, defaultChunkerOptions, maxChunkCharacters } from './chunker-options.ts'
import { countTokens } from './count-tokens.ts'
import { type PassageRows, passageRows } from './passage-rows.ts'
import { type PassagePage, sentencePages } from './sentence-pages.ts'
import { type Unit, splitIntoLines, splitIntoUnits } from './split-units.ts'

export interface Chunk {
  text: string
  tokens: number
  /** Number of characters that are in no earlier chunk. */
  newCharacters: number
  /** Of a file with pages: the pages of the text, in order, and where their sentences begin. */
  pages?: PassagePage[]
  /** Of a table with numbered rows: the rows of the text, in order, and where they begin. */
  sheets?: PassageRows[]
  /** The headings above the chunk, outermost first, joined by ` > `. */
  heading?: string
  /**
   * What stands above the rows with which the chunk begins, if not in it: the caption of a table, the words before a
   * list.
   */
  caption?: string
}

/** Deeper levels count as this one, so that the path of headings stays short. */
const deepestHeading = 9

/** Longer texts need not be counted to know that they are long. */
const mostCharactersOfToken = 16

interface LocatedUnit extends Unit {
  /** Where further sentences begin in a unit that is not cut at them. */
  sentences?: number[]
  isHeading: boolean
  page: number | undefined
  label: string | undefined
  sheet: string | undefined
  row: number | undefined
  heading: string | undefined
  caption: string | undefined
}

/**
 * Turns blocks into chunks of at most `maxTokens`. It cuts before a heading, after a paragraph or a row, else after
 * a sentence. Neighbouring chunks within a section overlap. Short sections share a chunk. The result depends only
 * on the input: the same file always gives the same chunks.
 */
export function createChunker(options: ChunkerOptions = defaultChunkerOptions) {
  const { maxTokens, overlapTokens } = options
  const minTokens = Math.floor(maxTokens / 4)
  const headings = createHeadings()
  const captions = createCaptions()
  let units: LocatedUnit[] = []
  /** How many of `units` are repeated from the previous chunk. */
  let carried = 0
  let tokens = 0
  let characters = 0
  let ready: Chunk[] = []

  function push(block: Block): Chunk[] {
    if (block.text.trim() === '') return []
    if (block.kind === 'heading') {
      if (ownTokens() >= minTokens) emit(units.length, false)
      headings.enter(block.level, block.text.trim())
    } else if (block.page !== units.at(-1)?.page && ownTokens() >= minTokens) emit(units.length, true)
    for (const unit of unitsOf(block, { heading: headings.path(), caption: captions.above(block) }, maxTokens / 2))
      place(unit)
    return take()
  }

  function flush(): Chunk[] {
    emit(units.length, false)
    return take()
  }

  function place(unit: LocatedUnit): void {
    while (isTooMuch(unit) && units.length > carried) emit(cutIndex(units, carried, maxTokens), true)
    // Drop the overlap when the new unit needs the room.
    while (isTooMuch(unit) && carried > 0) {
      const dropped = units.shift()
      tokens -= dropped?.tokens ?? 0
      characters -= dropped?.text.length ?? 0
      carried--
    }
    units.push(unit)
    tokens += unit.tokens
    characters += unit.text.length
  }

  function isTooMuch(unit: LocatedUnit): boolean {
    if (tokens + unit.tokens > maxTokens) return true
    return characters + unit.text.length > maxChunkCharacters
  }

  function emit(end: number, overlap: boolean): void {
    const chunkUnits = units.slice(0, end)
    if (end > carried) {
      const chunk = toChunk(chunkUnits, carried)
      if (chunk) ready.push(chunk)
    }
    const rest = units.slice(end)
    const tail = overlap ? overlapOf(chunkUnits, overlapTokens) : []
    units = [...tail, ...rest]
    carried = tail.length
    tokens = units.reduce((sum, unit) => sum + unit.tokens, 0)
    characters = units.reduce((sum, unit) => sum + unit.text.length, 0)
  }

  function ownTokens(): number {
    let sum = 0
    for (let index = carried; index < units.length; index++) sum += units[index]?.tokens ?? 0
    return sum
  }

  function take(): Chunk[] {
    const chunks = ready
    ready = []
    return chunks
  }

  return { push, flush }
}

/** The headings above the place that has been reached. */
function createHeadings() {
  const open: { level: number; text: string }[] = []
  let path: string | undefined
  return {
    enter(given: number, text: string): void {
      const level = Math.min(given, deepestHeading)
      while ((open.at(-1)?.level ?? 0) >= level) open.pop()
      open.push({ level, text: cut(text, 200) })
      path = open.map((heading) => heading.text).join(' > ')
    },
    /** Outermost first; undefined before the first heading. */
    path: () => path,
  }
}

/** What stands above the rows of tables and lists: a short text directly before the first, and what the table itself has. */
function createCaptions() {
  let before: string | undefined
  return {
    /** Call for each block, in order. */
    above({ kind, text, caption }: Block): string | undefined {
      if (kind !== 'row') {
        const isShort = kind === 'text' && text.trim().length <= maxCaptionCharacters
        before = isShort ? text.trim() : undefined
        return undefined
      }
      const parts = [before, caption].filter((part) => part !== undefined)
      return parts.length === 0 ? undefined : cut(parts.join(' '), 2 * maxCaptionCharacters)
    },
  }
}

/** Where the sentences of a row begin, except for the first one. */
function laterSentences(text: string): number[] {
  const starts: number[] = []
  let offset = 0
  let isBegun = false
  for (const unit of splitIntoUnits(text)) {
    const words = unit.text.trimStart()
    if (isBegun && unit.beginsSentence && words !== '') starts.push(offset + unit.text.length - words.length)
    isBegun ||= words !== ''
    offset += unit.text.length
  }
  return starts
}

/** `maxRowTokens`: a longer row of a table is cut like a text; others stay whole. */
function unitsOf(block: Block, above: Pick<LocatedUnit, 'heading' | 'caption'>, maxRowTokens: number): LocatedUnit[] {
  const isHeading = block.kind === 'heading'
  const { page, label, sheet, row } = block
  const place = { isHeading, page, label, sheet, row, ...above }
  if (isHeading) {
    const text = `${cut(block.text.trim(), 400)}\n`
    return [{ text, tokens: countTokens(text), endsParagraph: false, beginsSentence: true, ...place }]
  }
  if (block.kind === 'row' && block.text.length < maxRowTokens * mostCharactersOfToken) {
    const text = `${block.text.trimEnd()}\n`
    const tokens = countTokens(text)
    if (tokens <= maxRowTokens)
      return [
        { text, tokens, endsParagraph: true, beginsSentence: true, sentences: laterSentences(block.text), ...place },
      ]
  }
  const pieces = block.kind === 'code' ? splitIntoLines(block.text) : splitIntoUnits(block.text)
  const last = pieces.at(-1)
  if (last) {
    last.endsParagraph = true
    if (!last.text.endsWith('\n')) last.text += block.kind === 'row' ? '\n' : '\n\n'
  }
  return pieces.map((unit) => ({ ...unit, ...place }))
}

/**
 * Where to end a full chunk: after its last paragraph if the chunk is then still well filled, never after a
 * heading.
 */
function cutIndex(units: LocatedUnit[], carried: number, maxTokens: number): number {
  let sum = 0
  let best = 0
  for (const [index, unit] of units.entries()) {
    sum += unit.tokens
    if (unit.endsParagraph && sum >= maxTokens * 0.6 && index >= carried) best = index + 1
  }
  let end = best === 0 ? units.length : best
  while (end > carried + 1 && units[end - 1]?.isHeading) end--
  return end
}

/** The end of a chunk that the next one repeats. */
function overlapOf(chunkUnits: LocatedUnit[], overlapTokens: number): LocatedUnit[] {
  let sum = 0
  let start = chunkUnits.length
  while (start > 1) {
    const unit = chunkUnits[start - 1]
    if (!unit || sum + unit.tokens > overlapTokens) break
    sum += unit.tokens
    start--
  }
  return chunkUnits.slice(start)
}

function toChunk(units: LocatedUnit[], carried: number): Chunk | undefined {
  const joined = units.map((unit) => unit.text).join('')
  // The indentation of the first line stays.
  let start = 0
  while (joined[start] === '\n') start++
  // Not with `\s+$`, which takes quadratic time on spaces that are not at the end.
  const text = joined.slice(start).trimEnd()
  if (text === '') return undefined
  const own = units.slice(carried)
  const heading = own.find((unit) => !unit.isHeading)?.heading ?? own[0]?.heading
  const pages = sentencePages(units, start)
  const sheets = passageRows(units, start)
  const caption = captionOf(own, text)
  return {
    text,
    tokens: units.reduce((sum, unit) => sum + unit.tokens, 0),
    newCharacters: own.reduce((sum, unit) => sum + unit.text.length, 0),
    ...(pages === undefined ? {} : { pages }),
    ...(sheets === undefined ? {} : { sheets }),
    ...(heading === undefined ? {} : { heading }),
    ...(caption === undefined ? {} : { caption }),
  }
}

/** Undefined if the chunk begins with something else, or has the words itself. */
function captionOf(own: LocatedUnit[], text: string): string | undefined {
  const caption = own.find((unit) => !unit.isHeading)?.caption
  return caption === undefined || text.includes(caption) ? undefined : caption
}

/** At most `length` characters, without splitting a surrogate pair. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const isHighSurrogate = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800
  return text.slice(0, isHighSurrogate ? length - 1 : length)
}
