import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type Archive, openArchive } from '../archive.ts'
import { type Content, bytesOf, headOf } from '../content.ts'
import { maxPartBytes } from '../office-package.ts'
import { type DocumentContext, createDocumentBody } from '../open-document/body.ts'
import { createListNumbers } from '../open-document/list-numbers.ts'
import { readObjects } from '../open-document/objects.ts'
import type { Raised } from '../raised-text.ts'
import { type Attributes, blocksOfXml, createXmlReader } from '../word/xml.ts'

const maxEdges = 100

/** OpenDocument text, slides, drawings and workbooks, in reading order. */
export async function* readOpenDocument(
  content: Content,
  extension: string,
  readsHidden: boolean,
): AsyncGenerator<Block> {
  if ((await headOf(content, 2)).toString('latin1') !== 'PK') {
    yield* readFlat(content, { hasEdges: extension === 'odt', readsHidden })
    return
  }
  const archive = await openArchive(content)
  try {
    yield* readParts(archive, { hasEdges: extension === 'odt', readsHidden })
  } finally {
    archive.close()
  }
}

interface Parts {
  /** Headers and footers. */
  hasEdges: boolean
  readsHidden: boolean
}

async function* readParts(archive: Archive, { hasEdges, readsHidden }: Parts): AsyncGenerator<Block> {
  if (((await archive.text('META-INF/manifest.xml', maxPartBytes)) ?? '').includes('encryption-data'))
    throw new UnreadableFile('encrypted', 'This document is protected with a password and cannot be read.')
  const source = await archive.stream('content.xml')
  if (source === undefined) throw new UnreadableFile('damaged', 'This document is damaged and cannot be read.')
  const context = contextWith(await readObjects(archive), readsHidden)
  const edges = readStyles((await archive.text('styles.xml', maxPartBytes)) ?? '', context)
  // Those of workbooks are the same in all of them, and slides have none.
  if (hasEdges) yield* edges.headers
  const body = createDocumentBody(context)
  const styles = stylesInto(context)
  const reader = createXmlReader({
    ...body,
    open(name, attributes) {
      styles(name, attributes)
      body.open(name, attributes)
    },
  })
  const decoder = new TextDecoder('utf-8')
  for await (const bytes of source) {
    reader.write(decoder.decode(bytes, { stream: true }))
    yield* body.take()
  }
  reader.end()
  yield* body.take()
  if (hasEdges) yield* edges.footers
}

const contextWith = (objects: Map<string, Block[]>, readsHidden: boolean): DocumentContext => ({
  readsHidden,
  numbers: createListNumbers(),
  headingStyles: new Map(),
  hiddenStyles: new Set(),
  raisedStyles: new Map(),
  objects,
})

/** A document as one file of XML: its styles stand before its content. */
async function* readFlat(content: Content, { hasEdges, readsHidden }: Parts): AsyncGenerator<Block> {
  const xml = (await bytesOf(content)).toString('utf8')
  const context = contextWith(new Map(), readsHidden)
  const edges = readStyles(xml, context)
  if (hasEdges) yield* edges.headers
  yield* blocksOfXml(xml, createDocumentBody(context))
  if (hasEdges) yield* edges.footers
}

/** Learns the numbers of lists, which styles make headings, and which sheets and slides are hidden. */
function stylesInto(context: DocumentContext): (name: string, attributes: Attributes) => void {
  let style = ''
  return (name, attributes) => {
    context.numbers.openStyle(name, attributes)
    if (name === 'style:style') {
      style = attributes['style:name'] ?? ''
      const level = headingLevel(attributes, context.headingStyles)
      if (level !== undefined && context.headingStyles.size < maxStyles) context.headingStyles.set(style, level)
    }
    const isHidden =
      (name === 'style:table-properties' && attributes['table:display'] === 'false') ||
      (name === 'style:drawing-page-properties' && attributes['presentation:visibility'] === 'hidden')
    const raised = name === 'style:text-properties' ? raisedBy(attributes['style:text-position']) : undefined
    if (raised !== undefined && context.raisedStyles.size < maxStyles) context.raisedStyles.set(style, raised)
    if (isHidden && context.hiddenStyles.size < maxStyles) context.hiddenStyles.add(style)
  }
}

const maxStyles = 20_000

/** `super 58%`, or how far above or below the line: `33% 58%`. */
function raisedBy(position = ''): Raised | undefined {
  const [height = ''] = position.trim().split(' ', 1)
  if (height === 'super' || height === 'sub') return height
  const share = Number.parseFloat(height)
  return share > 0 ? 'super' : share < 0 ? 'sub' : undefined
}

function headingLevel(attributes: Attributes, known: Map<string, number>): number | undefined {
  if (attributes['style:family'] !== 'paragraph') return undefined
  if (attributes['style:name'] === 'Title') return 1
  return Number(attributes['style:default-outline-level']) || known.get(attributes['style:parent-style-name'] ?? '')
}

/** What stands above and below each page: once for a document. */
function readStyles(xml: string, context: DocumentContext): { headers: Block[]; footers: Block[] } {
  const edges: { headers: Block[]; footers: Block[] } = { headers: [], footers: [] }
  const styles = stylesInto(context)
  const seen = new Set<string>()
  let open: ReturnType<typeof createDocumentBody> | undefined
  const reader = createXmlReader({
    open(name, attributes) {
      styles(name, attributes)
      if (open === undefined && isEdge.test(name)) open = createDocumentBody(context)
      else open?.open(name, attributes)
    },
    close(name) {
      if (!isEdge.test(name)) {
        open?.close(name)
        return
      }
      for (const { text } of open?.take() ?? []) {
        if (seen.has(text) || seen.size >= maxEdges || !/\p{L}.*\s\S/su.test(text)) continue
        seen.add(text)
        edges[name.includes('header') ? 'headers' : 'footers'].push({ kind: 'text', text })
      }
      open = undefined
    },
    text: (text) => open?.text(text),
  })
  reader.write(xml)
  reader.end()
  return edges
}

const isEdge = /^style:(header|footer)(-left|-first)?$/
