import type { Block } from '../../../domain/chunking/block.ts'
import type { Content } from '../content.ts'
import { readLines } from '../read-text.ts'
import { type TableWriter, createTableWriter } from '../table-rows.ts'

const maxParagraphCharacters = 32 * 1024

/** Markdown with its headings, tables and code; other marks stay in the text, where they are readable. */
export async function* readMarkdown(content: Content): AsyncGenerator<Block> {
  let paragraph: string[] = []
  let characters = 0
  let fence: string | undefined
  let table: TableWriter | undefined

  function* endParagraph(): Generator<Block> {
    const text = paragraph.join('\n')
    paragraph = []
    characters = 0
    if (text.trim() !== '') yield { kind: fence === undefined ? 'text' : 'code', text }
  }

  for await (const line of readLines(content)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence !== undefined) {
      paragraph.push(line)
      characters += line.length
      if (mark?.startsWith(fence)) {
        yield* endParagraph()
        fence = undefined
      } else if (characters > maxParagraphCharacters) yield* endParagraph()
      continue
    }
    const isTableLine = isTableRow(line)
    if (!isTableLine && table) {
      yield* table.end()
      table = undefined
    }
    if (mark !== undefined) {
      yield* endParagraph()
      fence = mark
      paragraph.push(line)
      continue
    }
    const heading = headingOf(line)
    if (heading) {
      yield* endParagraph()
      yield heading
      continue
    }
    const underline = /^ {0,3}(=+|-+)\s*$/.exec(line)?.[1]
    if (underline !== undefined && paragraph.length === 1) {
      const text = paragraph.pop() ?? ''
      characters = 0
      yield { kind: 'heading', level: underline.startsWith('=') ? 1 : 2, text }
      continue
    }
    if (isTableLine) {
      yield* endParagraph()
      table ??= createTableWriter({ hasHeader: true })
      if (/^[\s|:-]+$/.test(line)) continue
      yield* table.row(cellsOf(line))
      continue
    }
    if (line.trim() === '' || characters > maxParagraphCharacters) yield* endParagraph()
    if (line.trim() !== '') {
      paragraph.push(line)
      characters += line.length
    }
  }
  yield* endParagraph()
  if (table) yield* table.end()
}

function isTableRow(line: string): boolean {
  const row = line.trim()
  return row.length > 1 && row.startsWith('|') && row.endsWith('|')
}

/** A bar behind a backslash is one of the text. */
const cellsOf = (line: string): string[] =>
  line
    .trim()
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll('\\|', '|'))

/** `## Heading ##`. Only its start is matched by a pattern: one for the whole line takes cubic time. */
function headingOf(line: string): Block | undefined {
  const marks = /^ {0,3}(#{1,6})(?=\s|$)/.exec(line)
  if (!marks) return undefined
  const text = line.slice(marks[0].length).trim()
  let end = text.length
  while (text[end - 1] === '#') end--
  // Closing marks are not part of the heading, unless they belong to its last word.
  const isClosed = end === 0 || text[end - 1]?.trim() === ''
  return { kind: 'heading', level: marks[1]?.length ?? 1, text: isClosed ? text.slice(0, end).trimEnd() : text }
}
