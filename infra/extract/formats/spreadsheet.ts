import { readFile } from 'node:fs/promises'
import { type WorkBook, read, utils } from '@e965/xlsx'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { createTableWriter } from '../table-rows.ts'

/** Every sheet as a section, every row with its column names and its values as they are shown. */
export async function* readSpreadsheet(path: string): AsyncGenerator<Block> {
  const workbook = parse(await readFile(path))
  for (const name of workbook.SheetNames) {
    const sheet = workbook.Sheets[name]
    if (!sheet) continue
    const rows: string[][] = utils.sheet_to_json(sheet, { header: 1, raw: false, blankrows: false, defval: '' })
    if (rows.length === 0) continue
    yield { kind: 'heading', level: 1, text: name }
    const table = createTableWriter()
    for (const row of rows) {
      const block = table.row(row.map(String))
      if (block) yield block
    }
    const alone = table.end()
    if (alone) yield alone
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
