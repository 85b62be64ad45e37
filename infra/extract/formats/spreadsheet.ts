import { type CellObject, type WorkBook, type WorkSheet, read } from '@e965/xlsx'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile, isUnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type Archive, openArchive } from '../archive.ts'
import { type Content, bytesOf, headOf } from '../content.ts'
import { createMergedCells } from '../merged-cells.ts'
import { readObjects } from '../office-objects.ts'
import { mainPart, maxPartBytes, relationsOf } from '../office-package.ts'
import { isCompoundFile, openCompoundFile } from '../ole/compound-file.ts'
import { createSheetWriter } from '../sheet-rows.ts'
import { blocksOfShape, shapesOf } from '../slides/slide.ts'
import { hiddenColumn } from '../table-rows.ts'
import { attribute, readOpened } from '../word/xml.ts'
import { textOfCell } from './cell-text.ts'

/** Every sheet as a section, every row with its column names and its values. What is hidden says so, or is left out. */
export async function* readSpreadsheet(content: Content, readsHidden: boolean): AsyncGenerator<Block> {
  const workbook = parse(await bytesOf(content))
  const drawn = await drawingsOf(content)
  const date1904 = workbook.Workbook?.WBProps?.date1904 === true
  for (const [index, name] of workbook.SheetNames.entries()) {
    const sheet = workbook.Sheets[name]
    const rows = sheet?.['!data'] ?? []
    const shapes = drawn.get(index) ?? []
    if (rows.length === 0 && shapes.length === 0) continue
    const isHidden = (workbook.Workbook?.Sheets?.[index]?.Hidden ?? 0) !== 0
    if (isHidden && !readsHidden) continue
    yield { kind: 'heading', level: 1, text: isHidden ? `${name} (hidden sheet)` : name }
    if (sheet) yield* rowsOf(sheet, rows, { name, date1904, readsHidden })
    yield* shapes
  }
}

/** What is drawn on the sheets of a current workbook, by their place: text boxes, charts and diagrams. */
async function drawingsOf(content: Content): Promise<Map<number, Block[]>> {
  if ((await headOf(content, 2)).toString('latin1') !== 'PK') return new Map()
  try {
    const archive = await openArchive(content)
    return await readDrawings(archive).finally(() => archive.close())
  } catch (error) {
    // Where its parts cannot be followed, the rows are there.
    if (isUnreadableFile(error)) return new Map()
    throw error
  }
}

async function readDrawings(archive: Archive): Promise<Map<number, Block[]>> {
  const drawn = new Map<number, Block[]>()
  const main = await mainPart(archive, 'xl/workbook.xml')
  const sheets = main.endsWith('.xml') ? sheetIds((await archive.text(main, maxPartBytes)) ?? '') : []
  const relations = await relationsOf(archive, main)
  for (const [index, id] of sheets.entries()) {
    const sheet = relations.find((relation) => relation.id === id)?.target
    const parts = sheet === undefined ? [] : await relationsOf(archive, sheet)
    const drawing = parts.find(({ kind }) => kind === 'drawing')?.target
    if (drawing === undefined) continue
    const objects = await readObjects(archive, drawing)
    const shapes = shapesOf((await archive.text(drawing, maxPartBytes)) ?? '')
    drawn.set(
      index,
      shapes.flatMap((shape) => [...blocksOfShape(shape), ...(objects.get(shape.object ?? '') ?? [])]),
    )
  }
  return drawn
}

function sheetIds(xml: string): string[] {
  const ids: string[] = []
  readOpened(xml, (name, attributes) => {
    if (/(^|:)sheet$/.test(name) && ids.length < maxSheets) ids.push(attribute(attributes, 'id') ?? '')
  })
  return ids
}

const maxSheets = 2000

function* rowsOf(
  sheet: WorkSheet,
  rows: CellObject[][],
  { name, date1904, readsHidden }: { name: string; date1904: boolean; readsHidden: boolean },
): Generator<Block> {
  const merges = createMergedCells()
  for (const { s: first, e: last } of sheet['!merges'] ?? [])
    merges.add({ firstRow: first.r, lastRow: last.r, firstColumn: first.c, lastColumn: last.c })
  const hiddenColumns = new Set((sheet['!cols'] ?? []).flatMap((column, index) => (column?.hidden ? [index] : [])))
  const table = createSheetWriter({ sheet: name, hiddenColumns })
  // Only existing cells are visited: a sheet with two cells may span a million rows and sixteen thousand columns.
  for (const place of Object.keys(rows)) {
    const number = Number(place)
    const row = rows[number] ?? []
    const isHidden = sheet['!rows']?.[number]?.hidden === true
    if (isHidden && !readsHidden) continue
    const cells = new Map<number, string>()
    for (const column of Object.keys(row)) {
      if (!readsHidden && hiddenColumns.has(Number(column))) continue
      const cell = row[Number(column)]
      const text = cell === undefined ? '' : textOfCell(cell, date1904)
      if (text !== '') cells.set(Number(column), text)
    }
    const repeated = merges.fill(number, cells)
    if (isHidden && cells.size > 0) cells.set(hiddenColumn, '(hidden row)')
    yield* table.row(
      [...cells].toSorted(([a], [b]) => a - b),
      repeated,
      number + 1,
    )
  }
  yield* table.end()
}

/**
 * Of a container its stream alone: the library follows the chains of a container without end where one is a circle, ours
 * does not.
 */
function streamOf(bytes: Buffer): Buffer {
  if (!isCompoundFile(bytes)) return bytes
  const container = openCompoundFile(bytes)
  const stream = container.stream('Workbook') ?? container.stream('Book')
  // What does not begin as a workbook, the library would read as CSV.
  if (stream?.[0] !== startOfWorkbook)
    throw new UnreadableFile('damaged', 'This workbook is damaged and cannot be read.')
  return stream
}

/** A record BOF ([MS-XLS] 2.4.21). */
const startOfWorkbook = 0x09

function parse(bytes: Buffer): WorkBook {
  const stream = streamOf(bytes)
  try {
    return readBook(stream, true)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (/password|encrypt/i.test(message)) {
      throw new UnreadableFile('encrypted', 'This workbook is protected with a password and cannot be read.', {
        cause: error,
      })
    }
  }
  try {
    // Of a formula that the library does not know, its stored value is read.
    return readBook(stream, false)
  } catch (error) {
    throw new UnreadableFile('damaged', 'This workbook is damaged and cannot be read.', { cause: error })
  }
}

const readBook = (bytes: Buffer, cellFormula: boolean): WorkBook =>
  read(bytes, {
    type: 'buffer',
    dense: true,
    cellNF: true,
    cellFormula,
    // Formulas without a stored value.
    sheetStubs: true,
    cellHTML: false,
    // Only so are hidden rows known.
    cellStyles: true,
  })
