import { addAll } from '../../../domain/add-all.ts'
import type { Block } from '../../../domain/chunking/block.ts'
import { type Raised, raisedMarks, withRaised } from '../raised-text.ts'
import type { Attributes, XmlEvents } from '../word/xml.ts'
import { type ListNumbers, outline } from './list-numbers.ts'
import { type Hiding, createSheets } from './sheets.ts'
import { createSlides } from './slides.ts'
import { createTables } from './tables.ts'

export interface DocumentContext extends Hiding {
  numbers: ListNumbers
  /** What formulas and charts say, by the folders in which the document keeps them. */
  objects: Map<string, Block[]>
  /** Levels of styles of paragraphs that make them headings. */
  headingStyles: Map<string, number>
  /** Styles of words that stand above or below their line. */
  raisedStyles: Map<string, Raised>
}

interface Paragraph {
  text: string
  /** The level of a heading. */
  level: number | undefined
  number: string | undefined
  /** What hangs on the paragraph: notes, comments, text boxes. */
  after: Block[]
}

interface List {
  style: string
  counts: number[]
  /** Whether the next paragraph is the first one of its item, and what it begins to count at. */
  isItem: boolean
  restart: number | undefined
}

/** What hangs on a paragraph or stands on a slide, until it ends. */
interface Frame {
  blocks: Block[]
  formula: string | undefined
  description: string
}

/** What a document does not show, or shows at another place. */
const hidden = new Set([
  'text:tracked-changes',
  'text:note-citation',
  'text:ruby-text',
  'text:hidden-text',
  'text:page-number',
  'text:sequence-decls',
  'text:variable-decls',
  'text:user-field-decls',
  'text:index-title-template',
  'text:table-of-content-source',
  'text:alphabetical-index-source',
  'text:bibliography-source',
  'office:forms',
  'office:scripts',
  'office:font-face-decls',
  'office:master-styles',
  'office:settings',
  'office:meta',
  'office:binary-data',
  'office:event-listeners',
  'dc:date',
  'meta:date-string',
  'draw:page-thumbnail',
  'table:tracked-changes',
  'table:content-validations',
  'table:database-ranges',
  'table:data-pilot-tables',
  'table:shapes',
])
const frames = new Set(
  ('frame custom-shape rect ellipse circle line polyline polygon path connector regular-polygon measure caption ' + 'g')
    .split(' ')
    .map((name) => `draw:${name}`),
)
const maxSpaces = 100
const longestHeading = 400
const longestDescription = 1000

/** The content of an OpenDocument file (1.3, ISO/IEC 26300): the events of its XML in, blocks in reading order out. */
export function createDocumentBody(context: DocumentContext): XmlEvents & { take(): Block[] } {
  let done: Block[] = []
  /** Where blocks go that have no paragraph around them. */
  const targets: Block[][] = []
  /** The open paragraphs; undefined for what stands in one without being part of it, such as a note. */
  const paragraphs: (Paragraph | undefined)[] = []
  const lists: List[] = []
  const countsByStyle = new Map<string, number[]>()
  const countsById = new Map<string, number[]>()
  const headings: number[] = []
  const open: Frame[] = []
  /** The open spans: where a raised one ends. */
  const spans: string[] = []
  let hiddenDepth = 0
  let capture: { text: string } | undefined
  let author = ''

  const put = (blocks: Block[]): void => addAll(targets.at(-1) ?? done, blocks)
  const tables = createTables(put, targets)
  const sheets = createSheets(put, targets, context)
  const slides = createSlides(put, targets, context)

  /** Beside the open paragraph, or behind what is there. */
  function hang(blocks: Block[]): void {
    const here = paragraphs.at(-1)
    if (here) addAll(here.after, blocks)
    else put(blocks)
  }

  function add(text: string): void {
    const here = paragraphs.at(-1)
    if (here) here.text += text
  }

  /** A note, a comment, or a frame. */
  function beginAside(blocks: Block[]): void {
    targets.push(blocks)
    paragraphs.push(undefined)
  }

  function endAside(): Block[] {
    paragraphs.pop()
    return targets.pop() ?? []
  }

  function beginParagraph(name: string, attributes: Attributes): void {
    const styled = context.headingStyles.get(attributes['text:style-name'] ?? '')
    const level = name === 'text:h' ? Number(attributes['text:outline-level']) || 1 : styled
    paragraphs.push({ text: '', level, number: numberOf(name, level, attributes), after: [] })
  }

  function numberOf(name: string, level: number | undefined, attributes: Attributes): string | undefined {
    const list = lists.at(-1)
    if (list?.isItem) {
      list.isItem = false
      return context.numbers.next(list.style, lists.length, list.counts, list.restart)
    }
    if (name !== 'text:h' || level === undefined || list !== undefined) return undefined
    if (attributes['text:is-list-header'] === 'true') return undefined
    return context.numbers.next(outline, level, headings, restartOf(attributes))
  }

  function endParagraph(): void {
    const here = paragraphs.pop()
    if (!here) return
    const shown = withRaised(here.text)
      .replace(/[\u00a0\u202f]/g, ' ')
      .trim()
    const text = here.number === undefined || here.number === '' ? shown : `${here.number} ${shown}`
    const isHeading = here.level !== undefined && !tables.isOpen() && shown.length < longestHeading
    const own: Block[] =
      shown === ''
        ? []
        : isHeading
          ? [{ kind: 'heading', level: here.level ?? 1, text }]
          : [{ kind: here.number === undefined ? 'text' : 'row', text }]
    hang([...own, ...here.after])
  }

  function beginList(attributes: Attributes): void {
    const around = lists.at(-1)
    const style = attributes['text:style-name'] ?? around?.style ?? ''
    const before =
      countsById.get(attributes['text:continue-list'] ?? '') ??
      (attributes['text:continue-numbering'] === 'true' ? countsByStyle.get(style) : undefined)
    const counts = around !== undefined && style === around.style ? around.counts : (before ?? [])
    lists.push({ style, counts, isItem: false, restart: undefined })
    countsByStyle.set(style, counts)
    const id = attributes['xml:id']
    if (id !== undefined && countsById.size < maxLists) countsById.set(id, counts)
  }

  function endNote(isComment: boolean): void {
    const text = endAside()
      .map((block) => block.text)
      .join('\n')
      .trim()
    if (text === '') return
    const by = author === '' ? '' : ` by ${author}`
    const shown = isComment ? `(comment${by}: ${text})` : text
    if (isComment && sheets.isCell()) sheets.comment(`(comment: ${text.replace(/\s+/g, ' ')})`)
    else hang([{ kind: 'text', text: shown }])
  }

  function endFrame(): void {
    const frame = open.pop()
    if (!frame) return
    endAside()
    const description = frame.description.replace(/\s+/g, ' ').trim().slice(0, longestDescription)
    // What a program writes by itself is the name of a file.
    const says = frame.blocks.length === 0 && description !== '' && !/^[\w-]+\.\w{2,4}$/.test(description)
    // A picture or a formula is a word of its paragraph.
    const inLine = says ? description : frame.formula
    if (inLine !== undefined && paragraphs.at(-1)) add(` ${inLine} `)
    else if (says) hang([{ kind: 'text', text: description }])
    else hang(frame.blocks)
    slides.endShape()
  }

  function isHidden(name: string, attributes: Attributes): boolean {
    if (hidden.has(name)) return true
    if (name === 'text:section' || name === 'text:p' || name === 'text:hidden-paragraph')
      return attributes['text:display'] === 'none' || attributes['text:is-hidden'] === 'true'
    return false
  }

  return {
    open(name, attributes) {
      if (hiddenDepth > 0 || isHidden(name, attributes)) {
        hiddenDepth++
        return
      }
      if (frames.has(name)) {
        slides.beginShape(attributes)
        const frame: Frame = { blocks: [], formula: undefined, description: '' }
        open.push(frame)
        beginAside(frame.blocks)
        return
      }
      switch (name) {
        case 'text:p':
        case 'text:h':
          return beginParagraph(name, attributes)
        case 'text:span': {
          const raised = context.raisedStyles.get(attributes['text:style-name'] ?? '')
          if (raised !== undefined) add(raisedMarks[raised][0])
          spans.push(raised === undefined ? '' : raisedMarks[raised][1])
          return
        }
        case 'text:s':
          return add(' '.repeat(Math.min(Number(attributes['text:c'] ?? 1) || 1, maxSpaces)))
        case 'text:tab':
          return add('\t')
        case 'text:line-break':
          return add('\n')
        case 'text:list':
          return beginList(attributes)
        case 'text:list-item': {
          const list = lists.at(-1)
          if (list) Object.assign(list, { isItem: true, restart: restartOf(attributes) })
          return
        }
        case 'text:note':
        case 'office:annotation':
          author = ''
          beginAside([])
          return
        case 'dc:creator':
        case 'svg:title':
        case 'svg:desc':
          capture = { text: '' }
          return
        case 'draw:object': {
          const made = context.objects.get((attributes['xlink:href'] ?? '').replace(/^\.\//, '')) ?? []
          const frame = open.at(-1)
          if (frame === undefined) return
          addAll(frame.blocks, made)
          frame.formula = made.length === 1 ? made[0]?.text : undefined
          return
        }
        default:
          if (sheets.open(name, attributes) || slides.open(name, attributes)) return
          tables.open(name, attributes)
      }
    },
    close(name) {
      if (hiddenDepth > 0) {
        hiddenDepth--
        return
      }
      if (frames.has(name)) return endFrame()
      switch (name) {
        case 'text:p':
        case 'text:h':
          return endParagraph()
        case 'text:span':
          return add(spans.pop() ?? '')
        case 'text:list':
          lists.pop()
          return
        case 'text:list-item': {
          const list = lists.at(-1)
          if (list) list.isItem = false
          return
        }
        case 'text:note':
          return endNote(false)
        case 'office:annotation':
          return endNote(true)
        case 'dc:creator':
          author = (capture?.text ?? '').trim().slice(0, 100)
          capture = undefined
          return
        case 'svg:title':
        case 'svg:desc': {
          const frame = open.at(-1)
          if (frame) frame.description += ` ${capture?.text ?? ''}`
          capture = undefined
          return
        }
        default:
          if (sheets.close(name) || slides.close(name)) return
          tables.close(name)
      }
    },
    text(text) {
      if (hiddenDepth > 0) return
      if (capture) {
        if (capture.text.length < longestDescription) capture.text += text
        // Line breaks and runs of spaces of the XML are one space.
      } else add(text.replace(/[ \t\r\n]+/g, ' '))
    },
    take() {
      const made = done
      done = []
      return made
    },
  }
}

const maxLists = 20_000

function restartOf(attributes: Attributes): number | undefined {
  const value = attributes['text:start-value']
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) : undefined
}
