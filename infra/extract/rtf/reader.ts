import { addAll } from '../../../domain/add-all.ts'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type Raised, raisedMarks, withRaised } from '../raised-text.ts'
import { baseOfReading } from '../reading-field.ts'
import { createFonts } from './fonts.ts'
import { createRows } from './rows.ts'
import { tokensOf } from './tokens.ts'

/** Where a text goes: the document, or what stands beside it. */
interface Flow {
  kind: 'body' | 'note' | 'comment' | 'box' | 'header' | 'footer'
  text: string
  number: string
  blocks: Block[]
  /** Notes, comments and text boxes of the open paragraph. */
  after: Block[]
  rows: ReturnType<typeof createRows>
}

type TextDestination = 'text' | 'skipped' | 'fonts' | 'styles' | 'number' | 'author' | 'instruction'

interface Group {
  flow: Flow
  place: TextDestination
  /** Whether the group began with a mark that says: skip it, if you do not know it. */
  isOptional: boolean
  /** Nothing has been read of the group. */
  isNew: boolean
  isHidden: boolean
  raised: Raised | undefined
  font: number | undefined
  /** Letters to be skipped behind a letter of Unicode. */
  fallback: number
  style: number
  level: number | undefined
  isInTable: boolean
  /** The paragraph is the large first letter of the next one. */
  isDropCap: boolean
  depth: number
}

const maxDepth = 2000
const longestHeading = 400
const longestDropCap = 20
const maxStyles = 10_000

/** Groups whose text is not one of the document. */
const skipped = new Set(
  (
    'colortbl info pict listtable listoverridetable revtbl rsidtbl generator themedata colorschememapping datastore ' +
    'xmlnstbl latentstyles filetbl shprslt sp sn sv nonshppict objdata nonesttables nesttableprops pgptbl ' +
    'ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn bkmkstart bkmkend xe tc atnid atnref atndate atrfstart atrfend'
  ).split(' '),
)
/** Of those that a reader may skip, the ones that hold text. */
const known = new Set(['shpinst', 'footnote', 'annotation', 'atnauthor', 'fldinst', 'shptxt', 'do', 'dptxbxtext'])
const flows = new Map<string, Flow['kind']>([
  ['footnote', 'note'],
  ['annotation', 'comment'],
  ['shptxt', 'box'],
  ['dptxbxtext', 'box'],
  ...['header', 'headerl', 'headerr', 'headerf'].map((name): [string, 'header'] => [name, 'header']),
  ...['footer', 'footerl', 'footerr', 'footerf'].map((name): [string, 'footer'] => [name, 'footer']),
])
const letters = new Map([
  ['tab', '\t'],
  ['line', '\n'],
  ['lbr', '\n'],
  ['~', ' '],
  ['_', '-'],
  ['emdash', '—'],
  ['endash', '–'],
  ['bullet', '•'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
  ['emspace', ' '],
  ['enspace', ' '],
  ['qmspace', ' '],
  ['\\', '\\'],
  ['{', '{'],
  ['}', '}'],
])

/** An RTF document, whose bytes are given as letters of Latin-1, in reading order. */
export function* readRtfText(given: string): Generator<Block> {
  const fonts = createFonts()
  const styles = new Map<number, { name: string; level: number | undefined }>()
  const body = flowOf('body')
  const edges: Record<'header' | 'footer', Set<string>> = { header: new Set(), footer: new Set() }
  const outer: Group[] = []
  let group: Group = {
    flow: body,
    place: 'text',
    isOptional: false,
    isNew: true,
    isHidden: false,
    raised: undefined,
    font: undefined,
    fallback: 1,
    style: 0,
    level: undefined,
    isInTable: false,
    isDropCap: false,
    depth: 1,
  }
  /** Bytes that are not decoded yet: a letter can be two of them. */
  let bytes = ''
  let toSkip = 0
  let defined: { number: number; name: string; level: number | undefined; font: number } | undefined
  let author = ''
  let instruction = ''
  let hasBegun = false

  function flush(): void {
    if (bytes === '') return
    const text = fonts.decode(bytes, group.font)
    bytes = ''
    add(text)
  }

  function add(text: string): void {
    const { place, flow, isHidden, raised } = group
    const [begin, end] = raised === undefined ? ['', ''] : raisedMarks[raised]
    if (place === 'text' && !isHidden) flow.text += begin + fonts.shown(text, group.font) + end
    else if (place === 'number') flow.number += text
    else if (place === 'author') author += text
    else if (place === 'instruction') instruction += text
    else if (place === 'styles' && defined) defined.name += text
    else if (place === 'fonts' && defined) fonts.name(defined.font, text)
  }

  function endParagraph(): void {
    const { flow } = group
    const text = withRaised(flow.text)
      .replace(/[\u00a0\u202f]/g, ' ')
      .trim()
    const number = numberOf(flow.number)
    flow.text = ''
    flow.number = ''
    const after = flow.after
    flow.after = []
    if (flow.rows.isOpen() && !group.isInTable) addAll(flow.blocks, flow.rows.end())
    if (text !== '') {
      const level = group.level ?? styles.get(group.style)?.level
      const whole = number === '' ? text : `${number} ${text}`
      if (level !== undefined && flow.kind === 'body' && text.length < longestHeading)
        flow.blocks.push({ kind: 'heading', level, text: whole })
      else flow.blocks.push({ kind: number === '' ? 'text' : 'row', text: whole })
    }
    addAll(flow.blocks, after)
  }

  /** Text of a cell stays open until the cell ends. */
  function endLine(): void {
    if (group.isInTable && group.flow.kind === 'body') group.flow.text += '\n'
    else if (group.isDropCap && group.flow.text.length < longestDropCap) group.flow.text = group.flow.text.trimEnd()
    else endParagraph()
  }

  function endCell(): void {
    const { flow } = group
    const number = numberOf(flow.number)
    const text = withRaised(flow.text).trim()
    flow.rows.endCell(number === '' ? text : `${number} ${text}`)
    flow.text = ''
    flow.number = ''
  }

  function endRow(): void {
    const { flow } = group
    addAll(flow.blocks, flow.rows.endRow())
    addAll(flow.blocks, flow.after)
    flow.after = []
  }

  function close(): void {
    flush()
    const before = group
    const around = outer.pop()
    if (around === undefined) return
    if (before.flow !== around.flow) endFlow(before, around.flow)
    if (before.place === 'fonts' && defined && around.place !== 'fonts') defined = undefined
    if (before.place === 'styles' && defined && before.depth > 2) {
      const { number, name, level } = defined
      if (styles.size < maxStyles) styles.set(number, { name, level: level ?? levelOf(name) })
      defined = undefined
    }
    if (before.place === 'instruction' && around.place !== 'instruction') {
      const base = around.isHidden ? undefined : baseOfReading(instruction)
      instruction = ''
      if (base !== undefined) around.flow.text += base
    }
    group = around
  }

  function endFlow(ended: Group, into: Flow): void {
    endParagraph()
    const { flow } = ended
    addAll(flow.blocks, flow.rows.end())
    const text = flow.blocks.map((block) => block.text.trim()).join('\n')
    if (flow.kind === 'header' || flow.kind === 'footer') {
      if (/\p{L}.*\s\S/su.test(text)) edges[flow.kind].add(text)
    } else if (flow.kind === 'box') addAll(into.after, flow.blocks)
    else if (text !== '') {
      const by = author.trim() === '' ? '' : ` by ${author.trim().slice(0, 100)}`
      into.after.push({ kind: 'text', text: flow.kind === 'comment' ? `(comment${by}: ${text})` : text })
      if (flow.kind === 'comment') author = ''
    }
  }

  /** The first word of a group says what it holds. */
  function begin(name: string): boolean {
    const flow = flows.get(name)
    if (skipped.has(name) || (group.isOptional && !known.has(name) && flow === undefined)) group.place = 'skipped'
    else if (name === 'fonttbl') group.place = 'fonts'
    else if (name === 'stylesheet') group.place = 'styles'
    else if (name === 'listtext' || name === 'pntext') group.place = 'number'
    else if (name === 'atnauthor') group.place = 'author'
    else if (name === 'fldinst') group.place = 'instruction'
    else if (flow !== undefined) {
      group.flow = flowOf(flow)
      group.isInTable = false
      group.isDropCap = false
      group.level = undefined
      group.raised = undefined
    } else return false
    return true
  }

  function word(name: string, value: number | undefined): void {
    if (name === '*') {
      // Within a group some programs write it before a word that they mean.
      group.isOptional = group.isNew
      return
    }
    if (group.place === 'skipped') return
    const isBeginning = begin(name)
    group.isOptional = false
    if (isBeginning) return
    if (group.place === 'fonts' || group.place === 'styles') {
      define(name, value ?? 0)
      return
    }
    const letter = letters.get(name)
    if (letter !== undefined) {
      add(letter)
      return
    }
    if (group.place === 'text' && group.flow.rows.word(name, value)) return
    switch (name) {
      case 'u':
        add(String.fromCharCode(((value ?? 0) + 65_536) % 65_536))
        toSkip = group.fallback
        return
      case 'uc':
        group.fallback = Math.max(0, Math.min(value ?? 1, 100))
        return
      case 'f':
        group.font = value
        return
      case 'ansicpg':
        fonts.setPage(value ?? 1252)
        return
      case 'mac':
        fonts.setPage(10_000)
        return
      // A backslash at the end of a line is a paragraph: so macOS writes each of them.
      case '\n':
      case '\r':
      case 'par':
      case 'sect':
      case 'page':
        return endLine()
      case 'cell':
        return endCell()
      case 'nestcell':
        return add('; ')
      case 'nestrow':
        return add('\n')
      case 'row':
        return endRow()
      case 'pard':
        Object.assign(group, { style: 0, level: undefined, isInTable: false, isDropCap: false })
        return
      case 'plain':
        Object.assign(group, { isHidden: false, raised: undefined })
        return
      case 'super':
      case 'sub':
        group.raised = value === 0 ? undefined : name
        return
      case 'nosupersub':
        group.raised = undefined
        return
      case 'up':
      case 'dn':
        group.raised = value === 0 ? undefined : name === 'up' ? 'super' : 'sub'
        return
      case 's':
        group.style = value ?? 0
        return
      case 'outlinelevel':
        if (value !== undefined && value >= 0 && value < 9) group.level = value + 1
        return
      case 'dropcapt':
        group.isDropCap = true
        return
      case 'intbl':
        group.isInTable = true
        return
      case 'v':
      case 'deleted':
        group.isHidden = value !== 0
        return
      default:
    }
  }

  function define(name: string, value: number): void {
    if (group.place === 'fonts') {
      if (name === 'f') defined = { number: 0, name: '', level: undefined, font: value }
      else if (name === 'fcharset' && defined) fonts.add(defined.font, value)
    } else if (name === 's') defined = { number: value, name: '', level: undefined, font: 0 }
    else if (name === 'outlinelevel' && defined && value < 9) defined.level = value + 1
    else if (name === 'cs' || name === 'ts' || name === 'ds') defined = undefined
    else if (name === 'u' && defined) defined.name += String.fromCharCode((value + 65_536) % 65_536)
  }

  for (const token of tokensOf(given)) {
    if (token.kind === 'bytes') {
      const skip = Math.min(toSkip, token.text.length)
      toSkip -= skip
      group.isNew = false
      if (group.place !== 'skipped') bytes += token.text.slice(skip)
      continue
    }
    flush()
    if (token.kind === 'open') {
      if (outer.length >= maxDepth)
        throw new UnreadableFile('damaged', 'This document nests its parts too deeply to be read.')
      outer.push(group)
      group = { ...group, isOptional: false, isNew: true, depth: group.depth + 1 }
      toSkip = 0
    } else if (token.kind === 'close') {
      toSkip = 0
      close()
    } else {
      hasBegun ||= token.name === 'rtf'
      if (toSkip > 0 && letters.has(token.name)) toSkip--
      else word(token.name, token.value)
      group.isNew = false
    }
    if (outer.length < 3 && group.flow === body && body.blocks.length > 0) yield* edged()
  }
  flush()
  group = { ...group, flow: body, place: 'text', isInTable: false }
  endParagraph()
  addAll(body.blocks, body.rows.endAll())
  if (!hasBegun) throw new UnreadableFile('damaged', 'This document is damaged and cannot be read.')
  yield* edged()
  for (const text of edges.footer) yield { kind: 'text', text }

  /** What stands above each page comes before the document, in which it is written first. */
  function* edged(): Generator<Block> {
    for (const text of edges.header) yield { kind: 'text', text }
    edges.header.clear()
    yield* body.blocks.splice(0)
  }
}

function flowOf(kind: Flow['kind']): Flow {
  return { kind, text: '', number: '', blocks: [], after: [], rows: createRows() }
}

/** `1.1`, or `-` for whatever sign stands before an item without a number. */
function numberOf(text: string): string {
  const number = text.replace(/\s+/g, ' ').trim().slice(0, 100)
  return number === '' || /[\p{L}\p{N}]/u.test(number) ? number : '-'
}

function levelOf(name: string): number | undefined {
  const [, level] = /^(?:heading|überschrift|titre) ([1-9])\b/i.exec(name.trim()) ?? []
  if (level !== undefined) return Number(level)
  return /^(title|titel|titre);?$/i.test(name.trim()) ? 1 : undefined
}
