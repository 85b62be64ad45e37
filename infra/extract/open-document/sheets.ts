import type { Block } from '../../../domain/chunking/block.ts'
import { createMergedCells } from '../merged-cells.ts'
import { createSheetWriter } from '../sheet-rows.ts'
import { hiddenColumn } from '../table-rows.ts'
import type { Attributes } from '../word/xml.ts'
import { valueOf } from './cell-value.ts'

interface Sheet {
  writer: ReturnType<typeof createSheetWriter>
  merged: ReturnType<typeof createMergedCells>
  /** The row that is open, from 0, and how many rows it stands for. */
  row: number
  repeated: number
  isHidden: boolean
  cells: Map<number, string>
  column: number
  /** The cell that is open: its own paragraphs. */
  cell: { attributes: Attributes; blocks: Block[]; comments: string[] } | undefined
  depth: number
}

/** A value is repeated in at most so many columns and rows: who fills a sheet with one means nothing by it. */
const maxRepeated = 100
const maxColumn = hiddenColumn - 1

/** The sheets of a workbook: each a section, its rows with their numbers and the names of their columns. */
export function createSheets(put: (blocks: Block[]) => void, targets: Block[][], hiddenStyles: Set<string>) {
  let isWorkbook = false
  let sheet: Sheet | undefined

  function beginSheet(attributes: Attributes): void {
    const name = attributes['table:name'] ?? ''
    const isHidden = hiddenStyles.has(attributes['table:style-name'] ?? '')
    put([{ kind: 'heading', level: 1, text: isHidden ? `${name} (hidden sheet)` : name }])
    sheet = {
      writer: createSheetWriter({ sheet: name }),
      merged: createMergedCells(),
      row: 0,
      repeated: 1,
      isHidden: false,
      cells: new Map(),
      column: 0,
      cell: undefined,
      depth: 1,
    }
  }

  function endCell(here: Sheet): void {
    const { cell } = here
    here.cell = undefined
    if (cell === undefined) return
    targets.pop()
    const shown = cell.blocks.map((block) => block.text.trim()).join('\n')
    const text = [valueOf(cell.attributes, shown), ...cell.comments].join(' ').trim()
    const count = numberOf(cell.attributes, 'table:number-columns-repeated')
    const columns = numberOf(cell.attributes, 'table:number-columns-spanned')
    const rows = numberOf(cell.attributes, 'table:number-rows-spanned')
    if (columns > 1 || rows > 1)
      here.merged.add({
        firstRow: here.row,
        lastRow: here.row + rows - 1,
        firstColumn: here.column,
        lastColumn: here.column + columns - 1,
      })
    if (text !== '')
      for (let index = 0; index < Math.min(count, maxRepeated); index++)
        if (here.column + index < maxColumn) here.cells.set(here.column + index, text)
    here.column = Math.min(here.column + count, maxColumn)
  }

  function endRow(here: Sheet): void {
    const count = here.cells.size === 0 ? 0 : Math.min(here.repeated, maxRepeated)
    const { cells } = here
    for (let index = 0; index < Math.max(count, 1); index++) {
      const repeats = here.merged.fill(here.row + index, cells)
      if (here.isHidden && cells.size > 0) cells.set(hiddenColumn, '(hidden row)')
      const row = [...cells].toSorted(([a], [b]) => a - b)
      put(here.writer.row(row, repeats, here.row + index + 1))
    }
    here.row += here.repeated
  }

  return {
    isCell: (): boolean => sheet?.cell !== undefined,
    comment(text: string): void {
      sheet?.cell?.comments.push(text)
    },
    /** False if the tag is not one of a sheet. */
    open(name: string, attributes: Attributes): boolean {
      if (name === 'office:spreadsheet') isWorkbook = true
      if (!isWorkbook || !name.startsWith('table:')) return false
      if (name === 'table:table') {
        if (sheet === undefined) beginSheet(attributes)
        else sheet.depth++
      }
      if (sheet === undefined || sheet.depth > 1) return true
      if (name === 'table:table-row') {
        const visibility = attributes['table:visibility']
        sheet.isHidden = visibility === 'collapse' || visibility === 'filter'
        sheet.repeated = numberOf(attributes, 'table:number-rows-repeated')
        sheet.cells = new Map()
        sheet.column = 0
      } else if (name === 'table:table-cell' || name === 'table:covered-table-cell') {
        const blocks: Block[] = []
        targets.push(blocks)
        sheet.cell = { attributes, blocks, comments: [] }
      }
      return true
    },
    close(name: string): boolean {
      if (!isWorkbook || !name.startsWith('table:')) return false
      if (sheet === undefined) return true
      if (name === 'table:table' && --sheet.depth === 0) {
        put(sheet.writer.end())
        sheet = undefined
      } else if (sheet.depth > 1) return true
      else if (name === 'table:table-cell' || name === 'table:covered-table-cell') endCell(sheet)
      else if (name === 'table:table-row') endRow(sheet)
      return true
    },
  }
}

function numberOf(attributes: Attributes, name: string): number {
  const value = Number(attributes[name] ?? 1)
  return Number.isInteger(value) && value > 0 ? Math.min(value, 2 ** 31) : 1
}
