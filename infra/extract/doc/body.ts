import { addAll } from '../../../domain/add-all.ts'
import type { Block } from '../../../domain/chunking/block.ts'
import { createBorderedRows } from '../bordered-rows.ts'
import { withRaised } from '../raised-text.ts'
import type { createCounters } from '../word/numbering.ts'
import type { RowShape } from './properties.ts'
import type { Paragraph } from './story.ts'

interface Table {
  rows: ReturnType<typeof createBorderedRows>
  cells: Block[][]
  /** Of the cell that is open. */
  blocks: Block[]
}

const longestHeading = 400
/** Many such paragraphs, one behind the other, are no first letters. */
const longestDropCap = 20
const maxCells = 1000

/** Paragraphs of a text as blocks: paragraphs in, in order, blocks out. */
export function createDocBody({
  counters,
  marked,
}: {
  counters: ReturnType<typeof createCounters> | undefined
  /** What hangs on a position in the text: notes, comments, text boxes. */
  marked(position: number): Block[]
}) {
  let blocks: Block[] = []
  const tables: Table[] = []
  let dropCap = ''

  function blocksOf({ text, properties, style, end }: Paragraph): Block[] {
    if (properties.isDropCap === true && end === 'paragraph') {
      dropCap += text.trim().slice(0, longestDropCap)
      return []
    }
    const shown = withRaised(dropCap + text)
      .replace(/[\u00a0\u202f]/g, ' ')
      .trim()
    dropCap = ''
    if (shown === '' || style.letters.isHidden === true) return []
    const number = numberOf(properties, style)
    const whole = number === undefined ? shown : `${number} ${shown}`
    const level = properties.outline ?? style.level ?? style.paragraph.outline
    if (level !== undefined && level > 0 && tables.length === 0 && shown.length < longestHeading)
      return [{ kind: 'heading', level, text: whole }]
    return [{ kind: number === undefined ? 'text' : 'row', text: whole }]
  }

  function numberOf(own: Paragraph['properties'], style: Paragraph['style']): string | undefined {
    const list = own.list ?? style.paragraph.list
    if (list === undefined || list === 0) return undefined
    const named = own.style === undefined ? undefined : counters?.levelOfStyle(String(list), String(own.style))
    const level = own.listLevel ?? style.paragraph.listLevel ?? named ?? 0
    return counters?.next(String(list), level)
  }

  /** Into the open cell, or into the document. */
  function put(made: Block[]): void {
    addAll(tables.at(-1)?.blocks ?? blocks, made)
  }

  function closeTable(): void {
    const table = tables.at(-1)
    if (!table) return
    if (table.cells.length > 0) endRow(table, undefined, false)
    const made = [...table.rows.end(), ...table.blocks]
    tables.pop()
    put(made)
  }

  function endRow(table: Table, shape: RowShape | undefined, isHeader: boolean): void {
    const { cells } = table
    table.cells = []
    const [only] = cells
    let made: Block[]
    // A table of one cell is a frame around text.
    if (cells.length === 1 && only && only.length > 1) made = [...table.rows.end(), ...only]
    else {
      const end = shape?.cells.at(-1)?.right ?? 0
      made = table.rows.add({
        cells: cells.map((cell, index) => ({
          text: cell.map((block) => block.text.trim()).join('\n'),
          place: shape?.cells[index] ?? { right: end + (index + 1) * 100, merged: undefined },
        })),
        ...(shape ? { left: shape.left } : {}),
        isHeader,
      })
    }
    const around = tables.indexOf(table) - 1
    addAll(tables[around]?.blocks ?? blocks, made)
  }

  return {
    add(paragraph: Paragraph): void {
      const { depth, end, properties, style } = paragraph
      while (tables.length > depth) closeTable()
      while (tables.length < depth) tables.push({ rows: createBorderedRows(), cells: [], blocks: [] })
      put(blocksOf(paragraph))
      for (const position of paragraph.marks) put(marked(position))
      const table = tables.at(-1)
      if (!table || end === 'paragraph') return
      if (end === 'cell' || table.blocks.length > 0) {
        if (table.cells.length < maxCells) table.cells.push(table.blocks)
        table.blocks = []
      }
      if (end === 'row') endRow(table, properties.row ?? style.paragraph.row, properties.isHeader === true)
    },
    take(): Block[] {
      const done = blocks
      blocks = []
      return done
    },
    end(): void {
      while (tables.length > 0) closeTable()
    },
  }
}
