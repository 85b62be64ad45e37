import { addAll } from '../../../domain/add-all.ts'
import type { Block } from '../../../domain/chunking/block.ts'
import { objectOf } from '../office-objects.ts'
import { type Raised, raisedMarks, withRaised } from '../raised-text.ts'
import { isSymbolFont, symbolOf, textOfSymbols } from '../symbol-font.ts'
import { type TableWriter, createTableWriter } from '../table-rows.ts'
import type { createCounters } from './numbering.ts'
import type { Style } from './styles.ts'
import { type Attributes, type XmlEvents, attribute } from './xml.ts'

export interface WordContext {
  style(id: string | undefined): Style
  counters?: ReturnType<typeof createCounters> | undefined
  /** Texts of footnotes and endnotes, and of comments, by `footnote 1`. */
  notes: Map<string, string>
  /** Charts, diagrams and pages of other programs, by the ids of their relations. */
  objects?: Map<string, Block[]>
}

interface Paragraph {
  text: string
  style: string | undefined
  list: string | undefined
  listLevel: number | undefined
  /** As Word 2003 has stored it. */
  number?: string | undefined
  outline: number | undefined
  /** What stands beside the paragraph: its notes, and text boxes that hang on it. */
  after: Block[]
  isJoinedWithNext: boolean
}

interface Cell {
  blocks: Block[]
  columns: number
  isContinued: boolean
}

interface Table {
  writer: TableWriter | undefined
  row: Cell[] | undefined
  skipped: number
  isHeader: boolean
  isDeleted: boolean
  /** The texts of cells that go on in the next row, by their columns. */
  above: Map<number, string>
}

/** What a document does not show: what was deleted or moved away, readings above words, older forms of properties. */
const hidden = new Set([
  'w:del',
  'w:moveFrom',
  'w:rt',
  'mc:Fallback',
  'w:instrText',
  'w:delText',
  'w:delInstrText',
  'w:sectPr',
  'w:pPrChange',
  'w:rPrChange',
  'w:tblPrChange',
  'w:trPrChange',
  'w:tcPrChange',
  'w:tblGridChange',
])

/** The body of a Word document, or of a part of it, as blocks: the events of its XML in, blocks out. */
export function createWordBody(context: WordContext): XmlEvents & { take(): Block[] } {
  let blocks: Block[] = []
  const paragraphs: Paragraph[] = []
  const tables: Table[] = []
  const fields: { isCode: boolean; code: string }[] = []
  const controls: { isPlaceholder: boolean; inProperties: boolean }[] = []
  let hiddenDepth = 0
  let inParagraphProperties = 0
  let inRunProperties = 0
  let inRowProperties = false
  let inCheckBox = false
  let formulaAt = 0
  let isText = false
  let isCode = false
  let isHiddenRun = false
  let raised: Raised | undefined
  let isSymbolRun = false
  /** The choices of a list of an old form, of which it shows one. */
  let choices: { shown: number; texts: string[] } | undefined
  let carried = ''

  const paragraph = () => paragraphs.at(-1)
  const isShown = () =>
    hiddenDepth === 0 &&
    !isHiddenRun &&
    !fields.some((field) => field.isCode || /^\s*(PAGE|NUMPAGES|SECTIONPAGES)\b/.test(field.code)) &&
    !controls.some(({ isPlaceholder }) => isPlaceholder)

  function add(text: string): void {
    const open = paragraph()
    const [begin, end] = raised === undefined ? ['', ''] : raisedMarks[raised]
    if (open && isShown()) open.text += begin + text + end
  }

  function put(made: Block[]): void {
    const cell = tables.at(-1)?.row?.at(-1)
    const outer = paragraph()
    // A text box hangs on a paragraph; of a cell, all is collected first.
    if (outer) addAll(outer.after, made)
    else addAll(cell?.blocks ?? blocks, made)
  }

  function beginParagraph(): void {
    paragraphs.push({
      text: '',
      style: undefined,
      list: undefined,
      listLevel: undefined,
      outline: undefined,
      after: [],
      isJoinedWithNext: false,
    })
  }

  function endParagraph(): void {
    const done = paragraphs.pop()
    if (!done) return
    const text = carried + done.text
    carried = done.isJoinedWithNext ? text : ''
    if (done.isJoinedWithNext) {
      put(done.after)
      return
    }
    put([...blocksOf({ ...done, text }), ...done.after])
  }

  function blocksOf({ text, style: id, list, listLevel, number: stored, outline }: Paragraph): Block[] {
    const style = context.style(id)
    const shown = withRaised(text)
      .replace(/[\u00a0\u202f]/g, ' ')
      .trim()
    if (shown === '' || style.isHidden === true) return []
    const listId = list ?? style.list
    const level = listLevel ?? (listId === undefined ? undefined : styleLevel(listId, id)) ?? style.listLevel ?? 0
    const number =
      stored ?? (listId === undefined || listId === '0' ? undefined : context.counters?.next(listId, level))
    const whole = number === undefined ? shown : `${number} ${shown}`
    const heading = outline ?? style.level
    if (heading !== undefined && tables.length === 0 && shown.length < longestHeading)
      return [{ kind: 'heading', level: Math.max(1, heading), text: whole }]
    return [{ kind: number === undefined ? 'text' : 'row', text: whole }]
  }

  const styleLevel = (list: string, style: string | undefined) =>
    style === undefined ? undefined : context.counters?.levelOfStyle(list, style)

  function note(kind: string, attributes: Attributes): void {
    const text = context.notes.get(`${kind} ${attribute(attributes, 'id') ?? ''}`)
    const open = paragraph()
    if (text !== undefined && open && isShown()) open.after.push({ kind: 'text', text })
  }

  const objectWith = (id: string | undefined): Block[] => context.objects?.get(id ?? '') ?? []

  function beginTable(): void {
    tables.push({ writer: undefined, row: undefined, skipped: 0, isHeader: false, isDeleted: false, above: new Map() })
  }

  function endRow(): void {
    const table = tables.at(-1)
    const cells = table?.row
    if (!table || !cells) return
    table.row = undefined
    const isDeleted = table.isDeleted
    table.isDeleted = false
    if (isDeleted) return
    const [only] = cells
    // A table of one cell is a frame around text.
    if (cells.length === 1 && only && only.blocks.length > 1 && !only.isContinued) {
      putInto(tables.length - 1, only.blocks)
      return
    }
    const given: [number, string][] = []
    const repeated = new Set<number>()
    let column = table.skipped
    table.skipped = 0
    for (const cell of cells) {
      const text = cell.isContinued
        ? (table.above.get(column) ?? '')
        : cell.blocks.map((block) => block.text.trim()).join('\n')
      for (let index = 0; index < Math.min(cell.columns, maxSpan); index++) {
        given.push([column + index, text])
        table.above.set(column + index, text)
        if (index > 0) repeated.add(column + index)
      }
      column += Math.min(cell.columns, maxSpan)
    }
    const isFirst = table.writer === undefined
    table.writer ??= createTableWriter({ isInText: true, ...(table.isHeader && isFirst ? { hasHeader: true } : {}) })
    table.isHeader = false
    putInto(tables.length - 1, table.writer.sparseRow(given, repeated))
  }

  function endTable(): void {
    endRow()
    const table = tables.pop()
    if (table?.writer) putInto(tables.length, table.writer.end())
  }

  /** Into the cell of the table around, or into the document. `depth`: how many tables are around. */
  function putInto(depth: number, made: Block[]): void {
    const cell = tables[depth - 1]?.row?.at(-1)
    const outer = depth === 0 ? paragraph() : undefined
    if (cell) addAll(cell.blocks, made)
    else if (outer) addAll(outer.after, made)
    else addAll(blocks, made)
  }

  function open(name: string, attributes: Attributes): void {
    // Empty marks of the same names stand among properties: they say that the paragraph or row was deleted.
    if (hiddenDepth > 0 || hidden.has(name) || isDeletion(name, attributes)) {
      const open = paragraph()
      const isMark = inParagraphProperties > 0 && inRunProperties > 0
      if (isMark && (name === 'w:del' || name === 'w:moveFrom') && open) open.isJoinedWithNext = true
      const table = tables.at(-1)
      if (inRowProperties && name === 'w:del' && table) table.isDeleted = true
      if (name === 'w:instrText') isCode = true
      hiddenDepth++
      return
    }
    openShown(name, attributes)
  }

  function openShown(name: string, attributes: Attributes): void {
    const value = attribute(attributes, 'val')
    const isOn = value !== '0' && value !== 'false' && value !== 'off'
    const [row, table, here] = [tables.at(-1)?.row, tables.at(-1), paragraph()]
    const control = controls.at(-1)
    switch (name) {
      case 'w:p':
        return beginParagraph()
      case 'w:pPr':
        inParagraphProperties++
        return
      case 'w:rPr':
        inRunProperties++
        return
      case 'w:pStyle':
        if (here) here.style = value
        return
      case 'w:numId':
        if (here && inParagraphProperties > 0) here.list = value
        return
      case 'w:ilvl':
        if (here && inParagraphProperties > 0) here.listLevel = Number(value) || 0
        return
      case 'wx:t':
        // Bullets are letters of fonts for signs.
        if (here && inParagraphProperties > 0 && value !== undefined)
          here.number = /[\p{L}\p{N}]/u.test(value) ? value.slice(0, 100) : '-'
        return
      case 'w:outlineLvl':
        if (here && Number(value) < 9) here.outline = Number(value) + 1
        return
      case 'w:vanish':
        if (inParagraphProperties === 0 && isOn) isHiddenRun = true
        return
      case 'w:vertAlign':
        if (inParagraphProperties === 0)
          raised = value === 'superscript' ? 'super' : value === 'subscript' ? 'sub' : undefined
        return
      // In half points above the line: what LibreOffice writes for raised letters of a page.
      case 'w:position':
        if (inParagraphProperties === 0 && Number(value)) raised = Number(value) > 0 ? 'super' : 'sub'
        return
      case 'w:t':
      case 'm:t':
        isText = true
        return
      case 'w:tab':
        return inParagraphProperties === 0 ? add(' ') : undefined
      case 'w:br':
      case 'w:cr':
        return add('\n')
      case 'w:noBreakHyphen':
        return add('-')
      case 'w:rFonts':
        isSymbolRun = inParagraphProperties === 0 && isSymbolFont(attribute(attributes, 'ascii'))
        return
      case 'w:framePr':
        // The large first letter of the next paragraph.
        if (here && /^(?:drop|margin)$/.test(attribute(attributes, 'dropCap') ?? '')) here.isJoinedWithNext = true
        return
      case 'w:sym':
        return add(symbolOf(Number.parseInt(attribute(attributes, 'char') ?? '', 16), attribute(attributes, 'font')))
      case 'w:ddList':
        choices = { shown: 0, texts: [] }
        return
      case 'w:result':
        if (choices) choices.shown = Number(value) || 0
        return
      case 'w:listEntry':
        if (choices && choices.texts.length < maxChoices) choices.texts.push(value ?? '')
        return
      case 'w:footnoteReference':
        return note('footnote', attributes)
      case 'w:endnoteReference':
        return note('endnote', attributes)
      case 'w:commentReference':
        return note('comment', attributes)
      case 'w:fldChar':
        return fieldMark(attribute(attributes, 'fldCharType'))
      case 'w:fldSimple':
        fields.push({ isCode: false, code: attribute(attributes, 'instr') ?? '' })
        return
      case 'w:checkBox':
        // A tick of an old form is a property of its field: what it shows is said by what follows.
        if (here) here.text += '[ ] '
        inCheckBox = true
        return
      case 'w:checked':
      case 'w:default':
        if (here && inCheckBox) here.text = here.text.slice(0, -'[ ] '.length) + (isOn ? '[x] ' : '[ ] ')
        return
      case 'm:oMath':
        formulaAt = here?.text.length ?? 0
        return
      case 'wp:docPr': {
        const description = attribute(attributes, 'descr')?.trim()
        if (description) add(` ${description.slice(0, longestDescription)} `)
        return
      }
      case 'w:sdt':
        controls.push({ isPlaceholder: false, inProperties: false })
        return
      case 'w:sdtPr':
        if (control) control.inProperties = true
        return
      case 'w:showingPlcHdr':
        if (control?.inProperties) control.isPlaceholder = isOn
        return
      case 'w:tbl':
        return beginTable()
      case 'w:tr':
        if (table) table.row = []
        return
      case 'w:trPr':
        inRowProperties = true
        return
      case 'w:tblHeader':
        if (table && isOn) table.isHeader = true
        return
      case 'w:gridBefore':
        if (table) table.skipped = Math.min(Number(value) || 0, maxSpan)
        return
      case 'w:tc':
        row?.push({ blocks: [], columns: 1, isContinued: false })
        return
      case 'w:gridSpan': {
        const cell = row?.at(-1)
        if (cell) cell.columns = Math.max(1, Number(value) || 1)
        return
      }
      case 'w:vMerge': {
        const cell = row?.at(-1)
        if (cell) cell.isContinued = value !== 'restart'
        return
      }
      default:
        if (name.startsWith('m:')) add(formulaOpens(name, attributes))
        else if (name === 'w:altChunk') put(objectWith(attribute(attributes, 'id')))
        else if (here && isShown()) addAll(here.after, objectWith(objectOf(name, attributes)))
    }
  }

  function fieldMark(type: string | undefined): void {
    const field = fields.at(-1)
    if (type === 'begin') fields.push({ isCode: true, code: '' })
    else if (type === 'separate' && field) field.isCode = false
    else if (type === 'end') fields.pop()
  }

  function close(name: string): void {
    if (hiddenDepth > 0) {
      hiddenDepth--
      if (name === 'w:instrText') isCode = false
      return
    }
    switch (name) {
      case 'w:p':
        return endParagraph()
      case 'w:pPr':
        inParagraphProperties--
        return
      case 'w:rPr':
        inRunProperties--
        return
      case 'w:r':
        isHiddenRun = false
        isSymbolRun = false
        raised = undefined
        return
      case 'w:t':
      case 'm:t':
        isText = false
        return
      case 'w:fldSimple':
        fields.pop()
        return
      case 'w:sdt':
        controls.pop()
        return
      case 'w:sdtPr': {
        const control = controls.at(-1)
        if (control) control.inProperties = false
        return
      }
      case 'w:checkBox':
        inCheckBox = false
        return
      case 'w:ddList': {
        const here = paragraph()
        if (here && choices) here.text += choices.texts[choices.shown] ?? ''
        choices = undefined
        return
      }
      case 'm:oMath': {
        const here = paragraph()
        if (here) here.text = here.text.slice(0, formulaAt) + simplified(here.text.slice(formulaAt))
        return
      }
      case 'w:trPr':
        inRowProperties = false
        return
      case 'w:tr':
        return endRow()
      case 'w:tbl':
        return endTable()
      default:
        if (name.startsWith('m:')) add(formulaCloses(name))
    }
  }

  return {
    open,
    close,
    text(text) {
      const field = fields.at(-1)
      if (isCode && field && field.code.length < 200) field.code += text
      else if (isText) add(isSymbolRun ? textOfSymbols(text) : text)
    },
    take() {
      const done = blocks
      blocks = []
      return done
    },
  }
}

/** Of Word 2003: what was deleted, and marks of that among properties. */
const isDeletion = (name: string, attributes: Attributes): boolean =>
  name === 'aml:annotation' && /\.(?:Deletion|Formatting)$/.test(attribute(attributes, 'type') ?? '')

const longestHeading = 400
const longestDescription = 1000
const maxSpan = 100
const maxChoices = 200

/** Formulas in one line: `(a+b)/2`, `x^2`, `√(y)`. */
function formulaOpens(name: string, attributes: Attributes): string {
  switch (name) {
    case 'm:num':
    case 'm:d':
      return '('
    case 'm:den':
      return '/('
    case 'm:sup':
      return '^('
    case 'm:sub':
      return '_('
    case 'm:rad':
      return '√('
    case 'm:chr':
      return attribute(attributes, 'val') ?? ''
    default:
      return ''
  }
}

const closed = new Set(['m:num', 'm:den', 'm:sup', 'm:sub', 'm:d', 'm:rad'])

const formulaCloses = (name: string): string => (closed.has(name) ? ')' : '')

/** Without brackets around single letters and numbers. */
const simplified = (formula: string): string => formula.replace(/([\^_/√]|^|[-+=(])\(([\p{L}\p{N}.,]+)\)/gu, '$1$2')
