import { readFile } from 'node:fs/promises'
import { type CellObject, type WorkBook, read, utils } from '@e965/xlsx'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { createTableWriter } from '../table-rows.ts'

/** Every sheet as a section, every row with its column names and its displayed values. */
export async function* readSpreadsheet(path: string): AsyncGenerator<Block> {
  const workbook = parse(await readFile(path))
  for (const name of workbook.SheetNames) {
    const sheet = workbook.Sheets[name]
    if (!sheet) continue
    const rows = sheet['!data'] ?? []
    if (rows.length === 0) continue
    yield { kind: 'heading', level: 1, text: name }
    const table = createTableWriter()
    // Only existing cells are visited: a sheet with two cells may span a million rows and sixteen thousand columns.
    for (const place of Object.keys(rows)) {
      const block = table.sparseRow(cellsOf(rows[Number(place)] ?? []))
      if (block) yield block
    }
    const alone = table.end()
    if (alone) yield alone
  }
}

function* cellsOf(row: CellObject[]): Generator<[column: number, text: string]> {
  for (const place of Object.keys(row)) {
    const cell = row[Number(place)]
    if (cell && cell.t !== 'e' && cell.t !== 'z') yield [Number(place), cell.w ?? utils.format_cell(cell)]
  }
}

function parse(bytes: Buffer): WorkBook {
  try {
    return read(bytes, { type: 'buffer', dense: true, cellHTML: false, cellFormula: false, cellStyles: false })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (/password|encrypt/i.test(message)) {
      throw new UnreadableFile('encrypted', 'This workbook is protected with a password and cannot be read.', {
        cause: error,
      })
    }
    throw new UnreadableFile('damaged', 'This workbook is damaged and cannot be read.', { cause: error })
  }
}
