import { open } from 'node:fs/promises'
import { Parser } from 'htmlparser2'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { readText } from '../read-text.ts'
import { type TableWriter, createTableWriter } from '../table-rows.ts'

const skipped = new Set(
  'script style noscript template svg math iframe object canvas nav button select textarea'.split(' '),
)
const blockTags = new Set(
  (
    'address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure footer ' +
    'form header hgroup hr html legend main menu ol p section summary ul br'
  ).split(' '),
)
/** Each end tag is searched among the open elements, so this limits the cost of a tag. */
const maxDepth = 2000

/** The content of a page without markup, scripts and navigation. Also reads XML: the text of its elements. */
export async function* readHtml(path: string, extension: string): AsyncGenerator<Block> {
  const writer = createHtmlWriter(extension === 'xml')
  for await (const piece of readText(path, await declaredCharset(path))) yield* writer.write(piece)
  yield* writer.end()
}

interface OpenTable {
  writer: TableWriter
  row: string[] | undefined
}

function createHtmlWriter(xmlMode: boolean) {
  let blocks: Block[] = []
  let text = ''
  let skipDepth = 0
  let depth = 0
  let preformatted = 0
  let heading: number | undefined
  /** One per open table; `row` holds the cells of the open row. */
  const tables: OpenTable[] = []

  function endBlock(kind: 'text' | 'row' | 'code' = 'text'): void {
    const content = preformatted > 0 ? text : text.replace(/[ \t\r\n\f\u00a0]+/g, ' ').trim()
    text = ''
    if (content.trim() === '') return
    if (heading === undefined) blocks.push({ kind, text: content })
    else blocks.push({ kind: 'heading', level: heading, text: content })
  }

  function openTag(name: string, attributes: Record<string, string>): void {
    if (++depth > maxDepth) throw new UnreadableFile('damaged', 'This page nests its elements too deeply to be read.')
    if (skipDepth > 0 || (!xmlMode && (skipped.has(name) || 'hidden' in attributes))) {
      skipDepth++
      return
    }
    const table = tables.at(-1)
    if (name === 'table') {
      if (!table?.row) endBlock()
      tables.push({ writer: createTableWriter(), row: undefined })
    } else if (name === 'tr' && table) {
      endBlock()
      table.row = []
    } else if ((name === 'td' || name === 'th') && table) {
      table.row ??= []
      text = ''
    } else if (table?.row) text += blockTags.has(name) || name === 'li' ? ' ' : ''
    else if (/^h[1-6]$/.test(name)) {
      endBlock()
      heading = Number(name[1])
    } else if (name === 'title') {
      endBlock()
      heading = 1
    } else if (name === 'li') {
      endBlock()
      text = '- '
    } else if (name === 'pre') {
      endBlock()
      preformatted++
    } else if (xmlMode || blockTags.has(name)) endBlock()
    if (name === 'img' && attributes['alt']) text += ` ${attributes['alt']} `
  }

  function closeTag(name: string): void {
    depth--
    if (skipDepth > 0) {
      skipDepth--
      return
    }
    const table = tables.at(-1)
    if (name === 'table' && table) {
      endRow(table)
      const alone = table.writer.end()
      if (alone) blocks.push(alone)
      tables.pop()
    } else if (name === 'tr' && table) endRow(table)
    else if ((name === 'td' || name === 'th') && table) {
      table.row?.push(text)
      text = ''
    } else if (table?.row) return
    else if (/^h[1-6]$/.test(name) || name === 'title') {
      endBlock()
      heading = undefined
    } else if (name === 'pre') {
      endBlock('code')
      preformatted = Math.max(0, preformatted - 1)
    } else if (name === 'li') endBlock('row')
    else if (xmlMode || blockTags.has(name)) endBlock()
  }

  function endRow(table: OpenTable): void {
    if (!table.row) return
    if (text.trim() !== '') table.row.push(text)
    const block = table.writer.row(table.row)
    if (block) blocks.push(block)
    table.row = undefined
    text = ''
  }

  const parser = new Parser(
    {
      onopentag: openTag,
      onclosetag: closeTag,
      ontext: (piece) => {
        if (skipDepth > 0) return
        text += piece
        if (text.length > 64 * 1024 && !tables.at(-1)?.row) endBlock()
      },
    },
    { decodeEntities: true, xmlMode },
  )

  function take(): Block[] {
    const done = blocks
    blocks = []
    return done
  }

  return {
    write(piece: string): Block[] {
      parser.write(piece)
      return take()
    },
    end(): Block[] {
      parser.end()
      endBlock()
      return take()
    },
  }
}

async function declaredCharset(path: string): Promise<string | undefined> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2048), 0, 2048, 0)
    const head = buffer.toString('latin1', 0, bytesRead)
    const label =
      /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1] ??
      /<\?xml[^>]+encoding\s*=\s*["']([\w-]+)/i.exec(head)?.[1]
    if (label === undefined || /^utf-?(8|16)/i.test(label)) return undefined
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  } finally {
    await handle.close()
  }
}
