import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import type { Block } from '../../../domain/chunking/block.ts'
import { readLines, readText } from '../read-text.ts'
import { createTableWriter } from '../table-rows.ts'

const maxRecordBytes = 1024 * 1024

/** CSV and similar formats, row by row. If the quoting is invalid, the rest is read as plain lines. */
export async function* readDelimited(path: string, extension: string): AsyncGenerator<Block> {
  const delimiter = extension === 'tsv' ? '\t' : await detectDelimiter(path)
  const parser = parse({
    delimiter,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRecordBytes,
  })
  const source = Readable.from(readText(path))
  source.once('error', (error) => parser.destroy(error))
  source.pipe(parser)
  const table = createTableWriter()
  let lines = 0
  try {
    for await (const record of parser) {
      lines = parser.info.lines
      if (!Array.isArray(record)) continue
      const block = table.row(record.map(String))
      if (block) yield block
    }
  } catch (error) {
    source.destroy()
    if (!(error instanceof CsvError)) throw error
    yield* linesFrom(path, lines)
  }
  const alone = table.end()
  if (alone) yield alone
}

async function* linesFrom(path: string, first: number): AsyncGenerator<Block> {
  let number = 0
  for await (const line of readLines(path)) {
    if (number++ >= first) yield { kind: 'row', text: line }
  }
}

/** The separator that splits the first lines evenly into the most columns. */
async function detectDelimiter(path: string): Promise<string> {
  const lines: string[] = []
  for await (const line of readLines(path)) {
    if (line.trim() !== '') lines.push(line.slice(0, 10_000).replace(/"[^"]*"/g, ''))
    if (lines.length >= 20) break
  }
  let best = ','
  let bestScore = 0
  for (const candidate of [',', ';', '\t', '|']) {
    const counts = lines.map((line) => line.split(candidate).length - 1)
    const score = Math.min(...counts) * 100 + (counts[0] ?? 0)
    if (score > bestScore) {
      best = candidate
      bestScore = score
    }
  }
  return best
}
