import { Readability } from '@mozilla/readability'
import { Parser } from 'htmlparser2'
import { parseHTML } from 'linkedom'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'
import type { PageFacts } from '../../../services/knowledge/extraction.ts'
import { maxLinkCharacters } from '../messages.ts'
import { readText } from '../read-text.ts'
import { declaredCharset, knownCharset } from './html.ts'

interface WebPage {
  facts: PageFacts
  links: string[]
  html: string
}

/** Trees take more than linear time; of larger and deeper pages everything but the navigation is taken. */
const maxElements = 20_000
const maxDepth = 300
/** Parsers look for the beginning of each end among all elements that are open. */
const maxOpen = 1000
/** Of a page with less text in its main part, everything but the navigation is taken. */
const leastCharacters = 200
const leastShare = 0.25
const maxTitleCharacters = 300

/** The readable part of a page and its links; of sitemaps and feeds the links. Runs in the confined reader. */
export async function readWebPage(
  path: string,
  { url, maxLinks, charset }: { url: string; maxLinks: number; charset?: string | undefined },
): Promise<WebPage> {
  let text = ''
  for await (const piece of readText(path, await charsetOf(path, charset))) text += piece
  const list = listOf(text)
  if (list !== undefined) return readList(text, list, url, maxLinks)
  return readHtmlPage(text, url, maxLinks)
}

/** Of the server, else of the page itself, else by its bytes: as browsers do (HTML, 13.2.3). */
async function charsetOf(path: string, given: string | undefined): Promise<string | undefined> {
  if (given !== undefined && /^utf-?8$/i.test(given)) return undefined
  return knownCharset(given) ?? (await declaredCharset(path))
}

/** The root element of a sitemap or a feed. */
function listOf(text: string): 'urlset' | 'sitemapindex' | 'rss' | 'feed' | 'rdf' | undefined {
  let root: string | undefined
  const parser = new Parser(
    {
      onopentagname(name) {
        root ??= name.toLowerCase()
        parser.pause()
      },
    },
    { xmlMode: true },
  )
  parser.write(text.slice(0, 64 * 1024).trimStart())
  if (root === 'rdf:rdf') return 'rdf'
  return root === 'urlset' || root === 'sitemapindex' || root === 'rss' || root === 'feed' ? root : undefined
}

function requireFlat(open: number): void {
  if (open > maxOpen) throw new UnreadableFile('too_large', 'This file nests its elements too deeply to be read.')
}

const listFacts = { noindex: false, nofollow: false } as const

function readList(text: string, root: NonNullable<ReturnType<typeof listOf>>, base: string, maxLinks: number): WebPage {
  const links = createLinks(base, maxLinks)
  const isSitemap = root === 'urlset' || root === 'sitemapindex'
  let isOpen = false
  let within: string | undefined
  let address = ''
  let depth = 0
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        requireFlat(++depth)
        if (name === 'item' || name === 'entry') isOpen = true
        within = name
        address = ''
        if (root === 'feed' && isOpen && name === 'link' && (attributes['rel'] ?? 'alternate') === 'alternate')
          links.add(attributes['href'])
      },
      ontext(piece) {
        if (within === (isSitemap ? 'loc' : 'link') && address.length < maxLinkCharacters) address += piece
      },
      onclosetag(name) {
        depth--
        if (isSitemap ? name === 'loc' : root !== 'feed' && isOpen && name === 'link') links.add(address)
        if (name === 'item' || name === 'entry') isOpen = false
        within = undefined
      },
    },
    { xmlMode: true, decodeEntities: true },
  )
  parser.end(text)
  const kind = root === 'sitemapindex' ? 'lists' : isSitemap ? 'sitemap' : 'feed'
  return { facts: { ...listFacts, kind, hasMoreLinks: links.hasMore() }, links: links.all(), html: '' }
}

function readHtmlPage(text: string, url: string, maxLinks: number): WebPage {
  const { links, ...head } = readHead(text, url, maxLinks)
  const html = head.isLinkList ? '' : head.isLarge ? text : readableOf(text)
  const heading = (head.title ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, maxTitleCharacters)
  const facts: PageFacts = {
    kind: 'page',
    ...(heading === '' ? {} : { title: heading.toWellFormed() }),
    ...(head.canonical === undefined ? {} : { canonical: head.canonical }),
    noindex: head.noindex,
    nofollow: head.nofollow,
    hasMoreLinks: links.hasMore(),
  }
  const whole = `<!doctype html><html><head><meta charset="utf-8"><title>${escaped(heading)}</title></head><body>${html}</body></html>`
  return { facts, links: links.all(), html: html === '' ? '' : whole.toWellFormed() }
}

/** What a page says of itself and where it leads, without building a tree of it. */
function readHead(text: string, url: string, maxLinks: number) {
  const links = createLinks(url, maxLinks)
  const head: { title?: string; canonical?: string; noindex: boolean; nofollow: boolean } = {
    noindex: false,
    nofollow: false,
  }
  let isTitle = false
  let svgs = 0
  let elements = 0
  let depth = 0
  let isLarge = false
  let linkDepth = 0
  let [characters, linkCharacters] = [0, 0]
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'svg') svgs++
      elements += 1
      requireFlat(++depth)
      isLarge ||= elements > maxElements || depth > maxDepth
      isTitle = name === 'title' && svgs === 0 && head.title === undefined
      const rel = (attributes['rel'] ?? '').toLowerCase().split(/\s/)
      if (name === 'a') linkDepth += 1
      if (name === 'a' && !rel.includes('nofollow')) links.add(attributes['href'])
      if (name === 'base') links.rebase(attributes['href'])
      if (name === 'link' && rel.includes('canonical')) head.canonical ??= absolute(attributes['href'], url)
      if (name === 'meta' && (attributes['name'] ?? '').toLowerCase() === 'robots') {
        const said = (attributes['content'] ?? '').toLowerCase()
        head.noindex ||= /\b(noindex|none)\b/.test(said)
        head.nofollow ||= /\b(nofollow|none)\b/.test(said)
      }
    },
    ontext(piece) {
      const { length } = piece.trim()
      characters += length
      if (linkDepth > 0) linkCharacters += length
      if (isTitle && (head.title ?? '').length < maxTitleCharacters) head.title = (head.title ?? '') + piece
    },
    onclosetag(name) {
      depth--
      if (name === 'a') linkDepth -= 1
      if (name === 'svg') svgs--
      if (name === 'title') isTitle = false
    },
  })
  parser.end(text)
  return { ...head, links, isLarge, isLinkList: isLarge && linkCharacters > characters / 2 }
}

function createLinks(url: string, most: number) {
  const found = new Set<string>()
  let base = url
  let more = false
  return {
    add(href: string | undefined): void {
      if (found.size >= most) more = true
      const link = more ? undefined : absolute(href, base)
      if (link !== undefined) found.add(link)
    },
    rebase(href: string | undefined): void {
      base = absolute(href, url) ?? base
    },
    all: () => [...found],
    hasMore: () => more,
  }
}

function absolute(href: string | undefined, base: string): string | undefined {
  const text = href?.trim()
  if (text === undefined || text === '' || text.startsWith('#') || text.length > maxLinkCharacters) return undefined
  if (!URL.canParse(text, base)) return undefined
  const url = new URL(text, base)
  url.hash = ''
  const isUseful = /^https?:$/.test(url.protocol) && url.href.length <= maxLinkCharacters
  return isUseful ? url.href : undefined
}

const unread =
  'script, style, noscript, template, svg, nav, header, footer, aside, form, iframe, [role=navigation], [role=banner], [role=contentinfo], [role=search], [aria-hidden=true], [hidden]'

/** The main part of a page, or all of it without what is on every page. */
function readableOf(text: string): string {
  const document = treeOf(/<html[\s>]/i.test(text) ? text : `<html><body>${text}</body></html>`)
  for (const node of document.querySelectorAll(unread)) if (!isMain(node)) node.remove()
  const all = document.body?.innerHTML ?? ''
  const length = lengthOf(document.body?.textContent)
  if (length === 0) return ''
  const article = new Readability(document).parse()
  const taken = lengthOf(article?.textContent)
  const isEnough = taken >= leastCharacters && taken >= length * leastShare
  return isEnough ? (article?.content ?? '') : all
}

/** What is used of a tree: the types of its library need those of a browser. */
interface Tree {
  body: { innerHTML: string; textContent: string | null } | null
  querySelectorAll(selector: string): Iterable<TreeNode>
}
interface TreeNode {
  localName: string
  closest(selector: string): unknown
  remove(): void
}

function treeOf(text: string): Tree {
  // oxlint-disable-next-line typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- checked by the next line
  const tree: unknown = parseHTML(text).document
  if (isTree(tree)) return tree
  throw new Error('the parser made no document')
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && 'querySelectorAll' in value && 'body' in value
}

/** The header of an article is none of the site. */
function isMain(node: TreeNode): boolean {
  return node.localName === 'header' && node.closest('article, main') !== null
}

function lengthOf(text: string | null | undefined): number {
  return (text ?? '').replaceAll(/\s+/g, ' ').trim().length
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
