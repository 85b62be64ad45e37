import Type, { type Static } from 'typebox'
import { Check } from 'typebox/value'
import type { Block } from '../../../domain/chunking/block.ts'
import { parseForeignJson } from '../../../domain/foreign-json.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type Content, bytesOf } from '../content.ts'
import { readHtml } from './html.ts'
import { readJson } from './json.ts'
import { readMarkdown } from './markdown.ts'

const limits = { bytes: 64 * 1024 * 1024, depth: 100, containers: 500_000, members: 2_000_000 }
const maxOutputCharacters = 4000
const maxPageCharacters = 1024 * 1024

const Text = Type.Union([Type.String(), Type.Array(Type.String())])
const Output = Type.Object({
  text: Type.Optional(Text),
  html: Type.Optional(Text),
  ename: Type.Optional(Type.String()),
  evalue: Type.Optional(Type.String()),
  data: Type.Optional(Type.Object({ 'text/plain': Type.Optional(Text), 'text/html': Type.Optional(Text) })),
})
/** `input` and `level` are of the third version, which has its cells in worksheets. */
const Cell = Type.Object({
  cell_type: Type.String(),
  source: Type.Optional(Text),
  input: Type.Optional(Text),
  level: Type.Optional(Type.Integer({ minimum: 1, maximum: 6 })),
  outputs: Type.Optional(Type.Array(Output)),
})
const Notebook = Type.Object({ cells: Type.Array(Cell) })
const ThirdNotebook = Type.Object({ worksheets: Type.Array(Notebook) })

const textOf = (text: string | string[] | undefined): string =>
  typeof text === 'string' ? text : (text ?? []).join('')

/**
 * A Jupyter notebook (nbformat 3 and 4): its texts with their headings, its code, and the beginnings of its results;
 * tables among these are rows. One of another form is read as JSON.
 */
export async function* readNotebook(content: Content): AsyncGenerator<Block> {
  const cells = cellsOf((await bytesOf(content)).toString('utf8'))
  if (cells === undefined) {
    yield* readJson(content, 'json')
    return
  }
  for (const { cell_type: kind, source, input, level = 1, outputs = [] } of cells) {
    const text = textOf(source ?? input)
    if (kind === 'markdown') yield* readMarkdown(Buffer.from(text))
    else if (kind === 'heading') yield { kind: 'heading', level, text }
    else if (text.trim() !== '') yield { kind: kind === 'code' ? 'code' : 'text', text }
    for (const output of outputs) yield* resultOf(output)
  }
}

async function* resultOf({ text, html, ename, evalue, data }: Static<typeof Output>): AsyncGenerator<Block> {
  const page = textOf(html ?? data?.['text/html'])
  if (/<table\b/i.test(page)) {
    yield* readHtml(Buffer.from(`<meta charset="utf-8">${page.slice(0, maxPageCharacters)}`), 'html')
    return
  }
  const failure = ename === undefined ? '' : `${ename}: ${evalue ?? ''}`
  const shown = (textOf(text ?? data?.['text/plain']) || failure).slice(0, maxOutputCharacters)
  if (shown.trim() !== '') yield { kind: 'code', text: shown }
}

function cellsOf(text: string): Static<typeof Cell>[] | undefined {
  let value: unknown
  try {
    value = parseForeignJson(text, limits)
  } catch (error) {
    throw new UnreadableFile('damaged', 'This notebook is damaged and cannot be read.', { cause: error })
  }
  if (Check(Notebook, value)) return value.cells
  return Check(ThirdNotebook, value) ? value.worksheets.flatMap(({ cells }) => cells) : undefined
}
