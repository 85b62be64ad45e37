import Type, { type Static } from 'typebox'
import { Check } from 'typebox/value'
import type { Block } from '../../../domain/chunking/block.ts'
import { parseForeignJson } from '../../../domain/foreign-json.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type Content, bytesOf } from '../content.ts'
import { readJson } from './json.ts'
import { readMarkdown } from './markdown.ts'

const limits = { bytes: 64 * 1024 * 1024, depth: 100, containers: 500_000, members: 2_000_000 }
const maxOutputCharacters = 4000

const Text = Type.Union([Type.String(), Type.Array(Type.String())])
const Output = Type.Object({
  text: Type.Optional(Text),
  data: Type.Optional(Type.Object({ 'text/plain': Type.Optional(Text) })),
})
const Cell = Type.Object({ cell_type: Type.String(), source: Text, outputs: Type.Optional(Type.Array(Output)) })
const Notebook = Type.Object({ cells: Type.Array(Cell) })

const textOf = (text: string | string[] | undefined): string =>
  typeof text === 'string' ? text : (text ?? []).join('')

/**
 * A Jupyter notebook (nbformat 4): its texts with their headings, its code, and the beginnings of its results. One
 * of another form is read as JSON.
 */
export async function* readNotebook(content: Content): AsyncGenerator<Block> {
  const notebook = notebookOf((await bytesOf(content)).toString('utf8'))
  if (notebook === undefined) {
    yield* readJson(content, 'json')
    return
  }
  for (const { cell_type: kind, source, outputs = [] } of notebook.cells) {
    const text = textOf(source)
    if (kind === 'markdown') yield* readMarkdown(Buffer.from(text))
    else if (text.trim() !== '') yield { kind: kind === 'code' ? 'code' : 'text', text }
    for (const { text: printed, data } of outputs) {
      const shown = textOf(printed ?? data?.['text/plain']).slice(0, maxOutputCharacters)
      if (shown.trim() !== '') yield { kind: 'code', text: shown }
    }
  }
}

function notebookOf(text: string): Static<typeof Notebook> | undefined {
  let value: unknown
  try {
    value = parseForeignJson(text, limits)
  } catch (error) {
    throw new UnreadableFile('damaged', 'This notebook is damaged and cannot be read.', { cause: error })
  }
  return Check(Notebook, value) ? value : undefined
}
