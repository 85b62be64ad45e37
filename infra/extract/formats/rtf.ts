import { type OfficeContentNode, parseOffice } from 'officeparser'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type SpanningCell, createTableWriter } from '../table-rows.ts'
import { type Content, bytesOf } from '../content.ts'

/** RTF: headings, paragraphs, lists, tables, notes. */
export async function* readRtf(content: Content): AsyncGenerator<Block> {
  const document = await parse(content)
  for (const node of document.content) yield* walk(node, undefined)
}

async function parse(content: Content) {
  try {
    return await parseOffice(await bytesOf(content), {
      fileType: 'rtf',
      ignoreSlideMasters: true,
      ignoreHeadersAndFooters: true,
      ignoreComments: true,
    })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (/password|encrypt/i.test(message)) {
      throw new UnreadableFile('encrypted', 'This document is protected with a password and cannot be read.', {
        cause: error,
      })
    }
    if (/limit|exceed|too (large|many)/i.test(message)) {
      throw new UnreadableFile('too_large', 'This document unpacks to more than can be read.', { cause: error })
    }
    throw new UnreadableFile('damaged', 'This document is damaged and cannot be read.', { cause: error })
  }
}

function* walk(node: OfficeContentNode, page: number | undefined): Generator<Block> {
  const place = page === undefined ? {} : { page }
  switch (node.type) {
    case 'slide':
    case 'page':
    case 'sheet': {
      const number = pageNumber(node) ?? page
      for (const child of node.children ?? []) yield* walk(child, number)
      yield* notesOf(node, number)
      return
    }
    case 'heading':
      yield { kind: 'heading', level: headingLevel(node), text: textOf(node), ...place }
      yield* notesOf(node, page)
      return
    case 'table': {
      const table = createTableWriter(place)
      for (const row of node.children ?? []) yield* table.spanningRow((row.children ?? []).map(cellOf))
      yield* table.end()
      yield* notesOf(node, page)
      return
    }
    case 'list':
      yield { kind: 'row', text: `- ${textOf(node).trim()}`, ...place }
      yield* notesOf(node, page)
      return
    case 'code':
      yield { kind: 'code', text: textOf(node), ...place }
      return
    default:
      if (hasBlocks(node)) for (const child of node.children ?? []) yield* walk(child, page)
      else yield { kind: 'text', text: textOf(node), ...place }
      yield* notesOf(node, page)
  }
}

const blockTypes = new Set<string>([
  'paragraph',
  'heading',
  'table',
  'list',
  'code',
  'slide',
  'page',
  'sheet',
  'definitionTerm',
])

function hasBlocks(node: OfficeContentNode): boolean {
  return node.children?.some((child) => blockTypes.has(child.type)) ?? false
}

/** Footnotes and speaker notes. */
function* notesOf(node: OfficeContentNode, page: number | undefined): Generator<Block> {
  for (const note of collectNotes(node)) {
    const text = textOf(note).trim()
    if (text !== '') yield { kind: 'text', text, ...(page === undefined ? {} : { page }) }
  }
}

function collectNotes(node: OfficeContentNode): OfficeContentNode[] {
  const own = node.notes ?? []
  if (blockTypes.has(node.type) && hasBlocks(node)) return own
  return [...own, ...(node.children ?? []).flatMap(collectNotes)]
}

function textOf(node: OfficeContentNode): string {
  if (node.type === 'break') return '\n'
  if (!node.children?.length) return node.text ?? ''
  const separator = hasBlocks(node) ? '\n' : ''
  return node.children.map(textOf).join(separator)
}

function cellOf(node: OfficeContentNode): SpanningCell {
  return { text: textOf(node), columns: numberIn(node, 'colSpan'), rows: numberIn(node, 'rowSpan') }
}

function headingLevel(node: OfficeContentNode): number {
  const level = numberIn(node, 'level')
  return level !== undefined && level >= 1 ? level : 1
}

function pageNumber(node: OfficeContentNode): number | undefined {
  return numberIn(node, 'slideNumber') ?? numberIn(node, 'pageNumber')
}

function numberIn(node: OfficeContentNode, member: string): number | undefined {
  const metadata: unknown = node.metadata
  if (typeof metadata !== 'object' || metadata === null) return undefined
  const value: unknown = Reflect.get(metadata, member)
  return typeof value === 'number' ? value : undefined
}
