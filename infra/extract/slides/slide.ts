import { addAll } from '../../../domain/add-all.ts'
import type { Block } from '../../../domain/chunking/block.ts'
import { type Raised, raisedMarks, withRaised } from '../raised-text.ts'
import { isSymbolFont, textOfSymbols } from '../symbol-font.ts'
import { createTableWriter } from '../table-rows.ts'
import { type Attributes, attribute, createXmlReader } from '../word/xml.ts'

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
  /** The id of the relation to a chart. */
  chart?: string
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
    const says = rest.paragraphs.length > 0 || rest.table || rest.description || rest.chart
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
        if (name.endsWith(':chart') && shape) shape.chart = attribute(attributes, 'id')
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

export function blocksOfShape({ isTitle, paragraphs, table, description }: Shape, page: number): Block[] {
  if (isTitle && paragraphs.length > 0) return [{ kind: 'heading', level: 1, text: paragraphs.join(' '), page }]
  const blocks: Block[] = paragraphs.map((text) => ({ kind: 'text', text, page }))
  if (table) {
    const writer = createTableWriter({ page, isInText: true })
    for (const row of table) addAll(blocks, writer.spanningRow(row.filter(({ isCovered }) => !isCovered)))
    addAll(blocks, writer.end())
  }
  // What a program writes by itself is the name of a file.
  if (description && paragraphs.length === 0 && !/^[\w-]+\.\w{2,4}$/.test(description))
    blocks.push({ kind: 'text', text: description, page })
  return blocks
}

/** The values of a chart as rows, from the copies that it keeps of them. Points without a value are left out there. */
export function blocksOfChart(xml: string, page: number): Block[] {
  const series: { name: string; categories: Map<number, string>; values: Map<number, string> }[] = []
  let title = ''
  let place: 'title' | 'name' | 'categories' | 'values' | undefined
  let labels = 0
  let point = 0
  let isValue = false
  let value = ''
  const reader = createXmlReader({
    open(name, attributes) {
      const tag = name.slice(name.indexOf(':') + 1)
      // Labels repeat values, or are drawn beside them.
      if (labels > 0 || tag === 'dLbls' || tag === 'trendline') labels++
      else if (tag === 'ser' && series.length < maxSeries)
        series.push({ name: '', categories: new Map(), values: new Map() })
      else if (tag === 'title') place = 'title'
      else if (tag === 'tx' && place !== 'title') place = 'name'
      else if (tag === 'cat' || tag === 'xVal') place = 'categories'
      else if (tag === 'val' || tag === 'yVal') place = 'values'
      else if (tag === 'pt') point = Number(attributes['idx']) || 0
      else if (tag === 'v' || tag === 't') {
        isValue = true
        value = ''
      }
    },
    close(name) {
      const tag = name.slice(name.indexOf(':') + 1)
      if (labels > 0) {
        labels--
        return
      }
      if (tag === 'title') title += ' '
      if (['title', 'tx', 'cat', 'xVal', 'val', 'yVal'].includes(tag)) {
        if (!(tag === 'tx' && place === 'title')) place = undefined
        return
      }
      if (!isValue || (tag !== 'v' && tag !== 't')) return
      isValue = false
      const last = series.at(-1)
      if (place === 'title') title += value
      else if (place === 'name' && last) last.name += value
      else if (place === 'categories' && last && point < maxPoints) {
        // The names of groups of categories follow them, each at its first one.
        const known = last.categories.get(point)
        last.categories.set(point, known === undefined ? value : `${value} ${known}`)
      } else if (place === 'values' && last && point < maxPoints) last.values.set(point, value)
    },
    text(text) {
      if (isValue && value.length < maxDescription) value += text
    },
  })
  reader.write(xml)
  reader.end()
  const caption = title.replace(/\s+/g, ' ').trim()
  const blocks: Block[] = caption === '' ? [] : [{ kind: 'text', text: caption, page }]
  const points = new Set(series.flatMap(({ categories, values }) => [...categories.keys(), ...values.keys()]))
  for (const at of [...points].toSorted((a, b) => a - b)) {
    const category = series[0]?.categories.get(at) ?? []
    const values = series.flatMap(({ name, values: all }) => (all.has(at) ? `${name}: ${all.get(at)}` : []))
    blocks.push({ kind: 'row', text: [category, values].flat().join('; '), page })
  }
  return blocks
}

const maxSeries = 50
const maxPoints = 1000
