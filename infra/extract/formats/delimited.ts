import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import type { Block } from '../../../domain/chunking/block.ts'
import { largestOf } from '../../../domain/extremes.ts'
import type { Content } from '../content.ts'
import { readLines, readText } from '../read-text.ts'
import { createTableWriter } from '../table-rows.ts'

const maxRecordBytes = 1024 * 1024
/** Lines from which the separator is told. */
const sampledLines = 500

/** CSV and similar formats, row by row. If the quoting is invalid, the rest is read as plain lines. */
export async function* readDelimited(content: Content, extension: string): AsyncGenerator<Block> {
  const named = await separatorLine(content)
  const delimiter = named ?? (extension === 'tsv' ? '\t' : await detectDelimiter(content))
  const parser = parse({
    delimiter,
    relax_quotes: true,
    relax_column_count: true,
    max_record_size: maxRecordBytes,
    from_line: named === undefined ? 1 : 2,
  })
  const source = Readable.from(readText(content))
  source.once('error', (error) => parser.destroy(error))
  source.pipe(parser)
  const table = createTableWriter()
  let row = named === undefined ? 0 : 1
  let lines = row
  // The parser makes an error of each row with fewer or more cells than the first, though such rows are wanted: their
  // stack traces would take most of the time.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    for await (const record of parser) {
      if (!Array.isArray(record)) continue
      // `="007"` keeps spreadsheet programs from reading a number.
      const cells = record.map((cell) => /^="([^"]*)"$/.exec(String(cell))?.[1] ?? String(cell))
      row += 1
      lines += linesOf(cells)
      yield* table.row(cells, row)
    }
  } catch (error) {
    source.destroy()
    if (!(error instanceof CsvError)) throw error
    yield* table.end()
    yield* linesFrom(content, lines)
    return
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
  yield* table.end()
}

/** The parser's own number of lines is ahead of the record that is read. */
const linesOf = (cells: string[]): number =>
  cells
    .join(' ')
    .replace(/\r$/, '')
    .split(/\r\n|\n|\r/).length

async function* linesFrom(content: Content, first: number): AsyncGenerator<Block> {
  let number = 0
  for await (const line of readLines(content)) {
    if (number++ >= first) yield { kind: 'row', text: line }
  }
}

/** What the first line names for spreadsheet programs: `sep=;`. */
async function separatorLine(content: Content): Promise<string | undefined> {
  for await (const line of readLines(content)) return /^"?sep=(.)"?$/i.exec(line.trimEnd())?.[1]
  return undefined
}

/** The separator by which most lines have the same number of columns. */
async function detectDelimiter(content: Content): Promise<string> {
  const lines: string[] = []
  for await (const line of readLines(content)) {
    if (line.trim() !== '') lines.push(line.slice(0, 10_000).replace(/"[^"]*"/g, ''))
    if (lines.length >= sampledLines) break
  }
  let best = { separator: ',', agreeing: 0 }
  // Commas come last: they stand in numbers and texts, too.
  for (const separator of [';', '\t', '|', ',']) {
    const agreeing = largestGroup(lines.map((line) => line.split(separator).length - 1).filter((count) => count > 0))
    if (agreeing > best.agreeing) best = { separator, agreeing }
  }
  return best.separator
}

function largestGroup(counts: number[]): number {
  const sizes = new Map<number, number>()
  for (const count of counts) sizes.set(count, (sizes.get(count) ?? 0) + 1)
  return largestOf([...sizes.values()], 0)
}
