import type { Block } from '../../../domain/chunking/block.ts'
import type { Archive } from '../archive.ts'
import { type Content, bytesOf } from '../content.ts'
import { readObjects } from '../office-objects.ts'
import { type Relation, mainPart, maxPartBytes, openPackage, relationsOf } from '../office-package.ts'
import { type WordContext, createWordBody } from '../word/body.ts'
import { createCounters, readNumbering } from '../word/numbering.ts'
import { readStyles } from '../word/styles.ts'
import { attribute, blocksOfXml, createXmlReader } from '../word/xml.ts'
import { readHtml } from './html.ts'

const maxNotes = 20_000
const maxNoteCharacters = 20_000
const maxHeaders = 100
const maxPages = 100

/** A Word document: headings and clauses with their numbers, paragraphs, lists, tables, notes at their places. */
export async function* readWord(content: Content): AsyncGenerator<Block> {
  const archive = await openPackage(content)
  try {
    yield* readParts(archive)
  } finally {
    archive.close()
  }
}

/** A document of Word 2003 as one file of XML, whose lists have their numbers as they are printed. */
export async function* readWordXml(content: Content): AsyncGenerator<Block> {
  const xml = (await bytesOf(content)).toString('utf8')
  yield* blocksOfXml(xml, createWordBody({ style: readStyles(xml), notes: new Map() }))
}

async function* readParts(archive: Archive): AsyncGenerator<Block> {
  const main = await mainPart(archive, 'word/document.xml')
  const folder = main.slice(0, main.lastIndexOf('/') + 1)
  const part = (name: string) => archive.text(`${folder}${name}`, maxPartBytes)
  const numbering = readNumbering((await part('numbering.xml')) ?? '')
  const styles = readStyles((await part('styles.xml')) ?? '')
  const plain: WordContext = { style: styles, notes: new Map() }
  const notes = new Map<string, string>()
  for (const kind of ['footnote', 'endnote', 'comment'])
    readNotes((await part(`${kind}s.xml`)) ?? '', kind, plain, notes)
  const relations = await relationsOf(archive, main)
  const edges = edgesOf(relations)
  yield* readEdges(archive, edges.headers, plain)
  const objects = await readObjects(archive, main)
  for (const { id, target } of relations.filter(({ kind }) => kind === 'aFChunk').slice(0, maxPages))
    objects.set(id, await readPage(archive, target))
  const context = { style: styles, counters: createCounters(numbering), notes, objects }
  const body = createWordBody(context)
  const reader = createXmlReader(body)
  const decoder = new TextDecoder('utf-8')
  const source = await archive.stream(main)
  if (source === undefined) return
  for await (const bytes of source) {
    reader.write(decoder.decode(bytes, { stream: true }))
    yield* body.take()
  }
  reader.end()
  yield* body.take()
  yield* readEdges(archive, edges.footers, plain)
}

/** A page that a program put into a document, which Word takes apart when it opens it. */
async function readPage(archive: Archive, target: string): Promise<Block[]> {
  const text = /\.x?html?$/i.test(target) ? await archive.text(target, maxPartBytes) : undefined
  const blocks: Block[] = []
  if (text !== undefined)
    for await (const block of readHtml(Buffer.from(`<meta charset="utf-8">${text}`), 'html')) blocks.push(block)
  return blocks
}

function edgesOf(relations: Relation[]): { headers: string[]; footers: string[] } {
  const of = (wanted: string) => [
    ...new Set(relations.filter(({ kind }) => kind === wanted).map(({ target }) => target)),
  ]
  return { headers: of('header').slice(0, maxHeaders), footers: of('footer').slice(0, maxHeaders) }
}

/** What stands above or below each page: once for a document. */
async function* readEdges(archive: Archive, names: string[], context: WordContext): AsyncGenerator<Block> {
  const seen = new Set<string>()
  for (const name of names) {
    for (const block of blocksOfXml((await archive.text(name, maxPartBytes)) ?? '', createWordBody(context))) {
      if (seen.has(block.text) || !/\p{L}/u.test(block.text)) continue
      seen.add(block.text)
      yield { kind: 'text', text: block.text }
    }
  }
}

function readNotes(xml: string, kind: string, context: WordContext, notes: Map<string, string>): void {
  let body = createWordBody(context)
  let note: { id: string; author: string; isNote: boolean } | undefined
  const reader = createXmlReader({
    open(name, attributes) {
      if (name === `w:${kind}`) {
        const type = attribute(attributes, 'type')
        note = {
          id: attribute(attributes, 'id') ?? '',
          author: attribute(attributes, 'author') ?? '',
          isNote: type === undefined || type === 'normal',
        }
        body = createWordBody(context)
      } else if (note) body.open(name, attributes)
    },
    close(name) {
      if (note === undefined) return
      if (name !== `w:${kind}`) {
        body.close(name)
        return
      }
      const text = body
        .take()
        .map((block) => block.text)
        .join('\n')
        .slice(0, maxNoteCharacters)
        .trim()
      const by = note.author === '' ? '' : ` by ${note.author}`
      if (note.isNote && text !== '' && notes.size < maxNotes)
        notes.set(`${kind} ${note.id}`, kind === 'comment' ? `(comment${by}: ${text})` : text)
      note = undefined
    },
    text(text) {
      if (note) body.text(text)
    },
  })
  reader.write(xml)
  reader.end()
}
