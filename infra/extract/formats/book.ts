import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import { type Archive, openArchive } from '../archive.ts'
import type { Content } from '../content.ts'
import { maxPartBytes, resolvedName } from '../office-package.ts'
import { type Raised, learnRaisedClasses } from '../raised-text.ts'
import { readOpened } from '../word/xml.ts'
import { readHtml } from './html.ts'

const maxStyleSheets = 50
const maxStyleBytes = 1024 * 1024

/** An EPUB: its chapters in the order in which they are read (EPUB 3, spine), each a page of HTML. */
export async function* readBook(content: Content): AsyncGenerator<Block> {
  const archive = await openArchive(content)
  try {
    if (archive.names.includes('META-INF/encryption.xml') && archive.names.includes('META-INF/rights.xml'))
      throw new UnreadableFile('encrypted', 'This book is protected and cannot be read.')
    const classes = new Map<string, Raised>()
    for (const name of archive.names.filter((one) => one.endsWith('.css')).slice(0, maxStyleSheets))
      learnRaisedClasses((await archive.text(name, maxStyleBytes)) ?? '', classes)
    for (const name of await chaptersOf(archive)) {
      const text = await archive.text(name, maxPartBytes)
      if (text !== undefined) yield* readHtml(Buffer.from(text), 'xhtml', classes)
    }
  } finally {
    archive.close()
  }
}

async function chaptersOf(archive: Archive): Promise<string[]> {
  let packageName: string | undefined
  readOpened((await archive.text('META-INF/container.xml', maxPartBytes)) ?? '', (name, attributes) => {
    if (name.endsWith('rootfile')) packageName ??= attributes['full-path']
  })
  const xml = packageName === undefined ? undefined : await archive.text(packageName, maxPartBytes)
  if (packageName === undefined || xml === undefined)
    throw new UnreadableFile('damaged', 'This document is damaged and cannot be read.')
  const folder = packageName.slice(0, packageName.lastIndexOf('/') + 1)
  const pages = new Map<string, string>()
  const order: string[] = []
  readOpened(xml, (name, { id = '', idref = '', href = '', 'media-type': type = '', properties = '' }) => {
    const isPage = /html|xml$/.test(type) && !/\bnav\b/.test(properties)
    if (/(^|:)item$/.test(name) && isPage) pages.set(id, resolvedName(folder, decoded(href)))
    else if (/(^|:)itemref$/.test(name)) order.push(idref)
  })
  return [...new Set(order.flatMap((id) => pages.get(id) ?? []))]
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href).normalize('NFC')
  } catch {
    return href
  }
}
