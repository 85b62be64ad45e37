import type { Block } from '../../../domain/chunking/block.ts'
import { readLines } from '../read-text.ts'
import { type TableWriter, createTableWriter } from '../table-rows.ts'

const maxParagraphCharacters = 32 * 1024

/** Markdown with its headings, tables and code; other marks stay in the text, where they are readable. */
export async function* readMarkdown(path: string): AsyncGenerator<Block> {
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

  for await (const line of readLines(path)) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence !== undefined) {
      paragraph.push(line)
      characters += line.length
      if (mark?.startsWith(fence)) {
        yield* endParagraph()
        fence = undefined
      } else if (characters > maxParagraphCharacters) yield* endParagraph()
      continue
    }
    const isTableLine = /^\s*\|.*\|\s*$/.test(line)
    if (!isTableLine && table) {
      const alone = table.end()
      if (alone) yield alone
      table = undefined
    }
    if (mark !== undefined) {
      yield* endParagraph()
      fence = mark
      paragraph.push(line)
      continue
    }
    const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line)
    if (heading) {
      yield* endParagraph()
      yield { kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' }
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
      const block = table.row(line.trim().slice(1, -1).split('|'))
      if (block) yield block
      continue
    }
    if (line.trim() === '' || characters > maxParagraphCharacters) yield* endParagraph()
    if (line.trim() !== '') {
      paragraph.push(line)
      characters += line.length
    }
  }
  yield* endParagraph()
  const alone = table?.end()
  if (alone) yield alone
}
