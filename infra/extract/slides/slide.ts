import { addAll } from '../../../domain/add-all.ts'
import type { Block } from '../../../domain/chunking/block.ts'
import { objectOf } from '../office-objects.ts'
import { type Raised, raisedMarks, withRaised } from '../raised-text.ts'
import { isSymbolFont, textOfSymbols } from '../symbol-font.ts'
import { createTableWriter } from '../table-rows.ts'
import { type Attributes, createXmlReader } from '../word/xml.ts'

interface Cell {
  text: string
  columns: number
  rows: number
  isCovered: boolean
}

/** What stands at one place of a slide. */
export interface Shape {
  /** In the units of the file; undefined where its layout says it. */
  top?: number
  left?: number
  isTitle: boolean
  paragraphs: string[]
  table?: Cell[][]
  description?: string
  /** The id of the relation to a chart, or to the data of a diagram. */
  object?: string
}

/** Fields of each slide that say nothing about it. */
const unread = new Set(['sldNum', 'dt', 'ftr', 'hdr'])
const maxDescription = 1000
const maxSpan = 100

/** The shapes of a slide, from top to bottom; the title comes first. */
export function shapesOf(xml: string): Shape[] {
  const shapes: Shape[] = []
  const open: (Shape & { isUnread: boolean })[] = []
  let paragraph: string | undefined
  let isText = false
  let hidden = 0
  let raised: Raised | undefined
  let isSymbols = false
  const here = () => open.at(-1)

  function begin(): void {
    open.push({ isTitle: false, paragraphs: [], isUnread: false })
  }

  function end(): void {
    const shape = open.pop()
    if (shape === undefined) return
    const { isUnread, ...rest } = shape
    const says = rest.paragraphs.length > 0 || rest.table || rest.description || rest.object
    if (!isUnread && says) shapes.push(rest)
  }

  function openShape(name: string, attributes: Attributes): void {
    const shape = here()
    switch (name) {
      case 'p:sp':
      case 'p:pic':
      case 'p:graphicFrame':
        return begin()
      case 'p:cNvPr': {
        const description = attributes['descr']?.trim()
        if (shape && description) shape.description = description.slice(0, maxDescription)
        return
      }
      case 'p:ph': {
        const kind = attributes['type'] ?? ''
        if (!shape) return
        shape.isTitle = kind === 'title' || kind === 'ctrTitle'
        shape.isUnread = unread.has(kind)
        return
      }
      case 'a:off':
        if (!shape || shape.top !== undefined) return
        shape.top = Number(attributes['y']) || 0
        shape.left = Number(attributes['x']) || 0
        return
      case 'a:tbl':
        if (shape) shape.table = []
        return
      case 'a:tr':
        shape?.table?.push([])
        return
      case 'a:tc':
        shape?.table?.at(-1)?.push({
          text: '',
          columns: spanOf(attributes['gridSpan']),
          rows: spanOf(attributes['rowSpan']),
          isCovered: attributes['hMerge'] === '1' || attributes['vMerge'] === '1',
        })
        return
      case 'a:p':
        paragraph = ''
        return
      case 'a:br':
        if (paragraph !== undefined) paragraph += '\n'
        return
      case 'a:tab':
        if (paragraph !== undefined) paragraph += ' '
        return
      case 'a:r':
      case 'a:fld':
        raised = undefined
        isSymbols = false
        return
      case 'a:rPr':
        raised = raisedBy(Number(attributes['baseline']) || 0)
        return
      case 'a:sym':
      case 'a:latin':
        isSymbols ||= isSymbolFont(attributes['typeface'])
        return
      case 'a:t':
      case 'm:t':
        isText = true
        if (raised !== undefined && paragraph !== undefined) paragraph += raisedMarks[raised][0]
        return
      default:
        if (shape) shape.object ??= objectOf(name, attributes)
    }
  }

  const reader = createXmlReader({
    open(name, attributes) {
      if (hidden > 0 || name === 'mc:Fallback') hidden++
      else openShape(name, attributes)
    },
    close(name) {
      if (hidden > 0) {
        hidden--
        return
      }
      if (name === 'p:sp' || name === 'p:pic' || name === 'p:graphicFrame') end()
      else if (name === 'a:t' || name === 'm:t') {
        isText = false
        if (raised !== undefined && paragraph !== undefined) paragraph += raisedMarks[raised][1]
      } else if (name === 'a:r' || name === 'a:fld') raised = undefined
      else if (name === 'a:p') {
        const shape = here()
        const text = withRaised(paragraph ?? '')
          .replace(/[\u000b\u00a0]/g, ' ')
          .trim()
        const cell = shape?.table?.at(-1)?.at(-1)
        if (cell) cell.text = cell.text === '' ? text : `${cell.text} ${text}`
        else if (text !== '') shape?.paragraphs.push(text)
        paragraph = undefined
      }
    },
    text(text) {
      // Only codes of its own: beside it such a run may name a font for ordinary letters.
      if (isText && paragraph !== undefined && hidden === 0)
        paragraph += isSymbols ? text.replace(/[\uf020-\uf0ff]/g, (letter) => textOfSymbols(letter)) : text
    },
  })
  reader.write(xml)
  reader.end()
  return inOrder(shapes)
}

/** A share of the size of the letters, in thousandths of a percent. */
function raisedBy(baseline: number): Raised | undefined {
  if (baseline === 0) return undefined
  return baseline > 0 ? 'super' : 'sub'
}

const spanOf = (value: string | undefined): number => Math.min(maxSpan, Math.max(1, Number(value ?? 1) || 1))

/** Shapes whose tops differ by less are read from the left: a tenth of an inch. */
const sameLine = 91_440

/** From top to bottom; the title comes first, then what has no place of its own. */
export function inOrder(shapes: Shape[]): Shape[] {
  const titles = shapes.filter(({ isTitle }) => isTitle)
  const unplaced = shapes.filter(({ isTitle, top }) => !isTitle && top === undefined)
  const placed = shapes.filter(({ isTitle, top }) => !isTitle && top !== undefined)
  const line = ({ top = 0 }: Shape) => Math.round(top / sameLine)
  return [...titles, ...unplaced, ...placed.toSorted((a, b) => line(a) - line(b) || (a.left ?? 0) - (b.left ?? 0))]
}

/** `page`: of a slide. */
export function blocksOfShape({ isTitle, paragraphs, table, description }: Shape, page?: number): Block[] {
  const place = locationOf(page)
  if (isTitle && paragraphs.length > 0) return [{ kind: 'heading', level: 1, text: paragraphs.join(' '), ...place }]
  const blocks: Block[] = paragraphs.map((text) => ({ kind: 'text', text, ...place }))
  if (table) {
    const writer = createTableWriter({ ...place, isInText: true })
    for (const row of table) addAll(blocks, writer.spanningRow(row.filter(({ isCovered }) => !isCovered)))
    addAll(blocks, writer.end())
  }
  // What a program writes by itself: the name of a file, `Picture 1`.
  if (description && paragraphs.length === 0 && !isMadeUp.test(description))
    blocks.push({ kind: 'text', text: description, ...place })
  return blocks
}

const isMadeUp = /^(?:[\w-]+\.\w{2,4}|(?:picture|image|bild|grafik|chart|diagramm?)(?: ?\d+)?)$/i

const locationOf = (page: number | undefined) => (page === undefined ? {} : { page })
