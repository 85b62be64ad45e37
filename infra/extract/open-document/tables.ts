import { addAll } from '../../../domain/add-all.ts'
import type { Block } from '../../../domain/chunking/block.ts'
import { type SpanningCell, type TableWriter, createTableWriter } from '../table-rows.ts'
import type { Attributes } from '../word/xml.ts'

interface Table {
  writer: TableWriter | undefined
  row: SpanningCell[] | undefined
  /** What was read of the open cell, and what it covers. */
  cell: { blocks: Block[]; columns: number; rows: number; repeated: number } | undefined
  isHeader: boolean
}

const maxSpan = 100

/** Tables in texts and on slides. `targets`: where the content of the innermost open cell goes. */
export function createTables(put: (blocks: Block[]) => void, targets: Block[][]) {
  const tables: Table[] = []

  function endCell(table: Table): void {
    const { cell } = table
    table.cell = undefined
    if (cell === undefined) return
    targets.pop()
    const text = cell.blocks.map((block) => block.text.trim()).join('\n')
    for (let count = 0; count < cell.repeated; count++)
      table.row?.push({ text, columns: cell.columns, rows: cell.rows })
    // A table of one cell is a frame around text.
    if (table.row?.length === 1 && cell.blocks.length > 1) frame = cell.blocks
    else frame = undefined
  }

  let frame: Block[] | undefined

  function endRow(table: Table): void {
    const { row } = table
    table.row = undefined
    if (row === undefined) return
    if (row.length === 1 && frame !== undefined) put(frame)
    else {
      table.writer ??= createTableWriter({ isInText: true, ...(table.isHeader ? { hasHeader: true } : {}) })
      put(table.writer.spanningRow(row))
    }
    frame = undefined
  }

  return {
    isOpen: (): boolean => tables.length > 0,
    open(name: string, attributes: Attributes): void {
      const table = tables.at(-1)
      if (name === 'table:table') tables.push({ writer: undefined, row: undefined, cell: undefined, isHeader: false })
      else if (table === undefined) return
      else if (name === 'table:table-header-rows') table.isHeader = table.writer === undefined
      else if (name === 'table:table-row') table.row = []
      else if (name === 'table:table-cell' && table.row) {
        const blocks: Block[] = []
        targets.push(blocks)
        table.cell = {
          blocks,
          columns: countOf(attributes, 'table:number-columns-spanned'),
          rows: countOf(attributes, 'table:number-rows-spanned'),
          repeated: countOf(attributes, 'table:number-columns-repeated'),
        }
      }
    },
    close(name: string): void {
      const table = tables.at(-1)
      if (table === undefined) return
      if (name === 'table:table-cell') endCell(table)
      else if (name === 'table:table-row') endRow(table)
      else if (name === 'table:table') {
        tables.pop()
        const made: Block[] = []
        if (table.writer) addAll(made, table.writer.end())
        put(made)
      }
    },
  }
}

function countOf(attributes: Attributes, name: string): number {
  const value = Number(attributes[name] ?? 1)
  return Number.isInteger(value) && value > 0 ? Math.min(value, maxSpan) : 1
}
