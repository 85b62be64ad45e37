import { cutText } from '../../domain/cut-text.ts'
import { isFinal, isUnreadableFile } from '../../domain/knowledge/unreadable-file.ts'
import type { SourcePageRecord, SourceRecord } from '../../domain/records/source.ts'
import { addressFilter, canonicalAddress, isWithin } from '../../domain/sources/addresses.ts'
import { crawlLimits } from '../../domain/sources/limits.ts'
import type { PageRead, PageReader } from '../knowledge/extraction.ts'
import type { IngestionPosition } from '../knowledge/ingestion-of.ts'
import { sourcePageStore, sourceStore } from '../stores/sources.ts'
import { discover } from './discover.ts'
import {
  type SourceCollections,
  keepOld,
  leaveOut,
  letGoOn,
  pageIdOf,
  readsWhole,
  standing,
  waitFor,
} from './source-pages.ts'
import { type PageText, type StoreTextDeps, hashOf, storeText } from './store-text.ts'
import type { Web, WebAnswer } from './web.ts'

export interface VisitDeps extends StoreTextDeps {
  collections: SourceCollections
  web: Web
  pages: PageReader
}

interface Visit {
  bytes: number
  /** The file that was made of it. */
  fileId?: string
}

/** What the way to a page ended with, and where. */
interface Arrival {
  url: string
  answer: WebAnswer
}

/** Visits one page: what it says becomes a file, and what it links to is put on the list. */
export async function visitPage(
  deps: VisitDeps,
  source: SourceRecord,
  page: SourcePageRecord,
  position: IngestionPosition,
  signal: AbortSignal,
): Promise<Visit> {
  const { collections } = deps
  // A crawl before may have met it with other globs.
  const excluded = source.type === 'site' && page.depth > 0 ? addressFilter(source)(page.url) : undefined
  if (excluded !== undefined) {
    await leaveOut(collections, page, excluded)
    return { bytes: 0 }
  }
  const { url, answer } = await arrive(deps, source, page, signal)
  const now = answer.kind === 'content' ? await noteMove(deps, source, page, url) : source
  switch (answer.kind) {
    case 'redirect':
      await leaveOut(collections, page, 'It redirects too often.')
      return { bytes: 0 }
    case 'gone':
    case 'refused':
      await leaveOut(collections, page, answer.reason)
      return { bytes: 0 }
    case 'failed':
      await tryLater(deps, page, answer.reason)
      return { bytes: 0 }
    case 'unchanged':
      if (!(await isDuplicate(deps, source, page, page.sha256))) await noteUnchanged(collections, page)
      return { bytes: 0 }
    case 'content':
      if (await hasMoved(deps, now, page, url)) return { bytes: answer.body.length }
      return { bytes: answer.body.length, ...(await take(deps, now, page, { url, answer }, position, signal)) }
  }
}

/**
 * Whether an article of a feed leads to another address that the feed names now, and is left to that one: if it has a text,
 * or may have one when it was visited.
 */
async function hasMoved(
  { collections }: VisitDeps,
  { _id: sourceId, type, round }: SourceRecord,
  page: SourcePageRecord,
  url: string,
): Promise<boolean> {
  if (type !== 'feed' || page.kind !== 'page' || url === page.url) return false
  const other = await sourcePageStore(collections).find(pageIdOf(sourceId, url))
  if (other === null || other.round !== round || other.status === 'left_out') return false
  // The other one has been read, says the same, and waits for this one: it is the one to keep.
  const waitsForThis = other.status === 'waiting' && other.same_as === page._id
  if (waitsForThis) await sourcePageStore(collections).stopWaiting(other, page._id)
  if (waitsForThis || standing(other, round) === 'open') {
    await waitFor(collections, page, other)
    return true
  }
  if (other.file_id === undefined) return false
  await leaveOut(collections, page, `It has moved to ${cutText(url, 300)}`)
  return true
}

/** Follows redirects, each as its site allows. */
async function arrive(
  deps: VisitDeps,
  source: SourceRecord,
  page: SourcePageRecord,
  signal: AbortSignal,
): Promise<Arrival> {
  let { url } = page
  for (let hops = 0; ; hops++) {
    const rules = await deps.web.rulesOf(url, signal)
    const reason = rules.refusal(url)
    if (reason !== undefined) return { url, answer: { kind: rules.isTemporary ? 'failed' : 'refused', reason } }
    const isKnown = hops === 0 && page.file_id !== undefined && !readsWhole(source)
    const known = isKnown ? { etag: page.etag, lastModified: page.last_modified } : {}
    const answer = await deps.web.ask(url, { pauseMs: rules.pauseMs, ...known, signal })
    if (answer.kind !== 'redirect' || hops >= crawlLimits.redirects) return { url, answer }
    const next = canonicalAddress(answer.to, url)
    if (next === undefined) return { url, answer: { kind: 'refused', reason: 'It redirects to what is no address.' } }
    if (source.type !== 'page' && page.depth > 0 && !isWithin(source, next))
      return { url, answer: { kind: 'refused', reason: `It redirects to another site: ${cutText(next, 200)}` } }
    url = next
  }
}

/** A site whose start leads elsewhere is the site to which it leads. */
async function noteMove(
  { collections }: VisitDeps,
  source: SourceRecord,
  page: SourcePageRecord,
  url: string,
): Promise<SourceRecord> {
  const { moved_to: known, ...rest } = source
  const movedTo = isWithin(rest, url) ? undefined : url
  if (source.type !== 'site' || page.depth > 0 || known === movedTo) return source
  await sourceStore(collections).noteMoved(source, movedTo)
  return movedTo === undefined ? rest : { ...rest, moved_to: movedTo }
}

async function tryLater({ collections }: VisitDeps, page: SourcePageRecord, reason: string): Promise<void> {
  if (page.tries + 1 >= crawlLimits.tries) return keepOld(collections, page, reason)
  await sourcePageStore(collections).tryLater(page, reason)
}

async function noteUnchanged(collections: SourceCollections, page: SourcePageRecord): Promise<void> {
  await sourcePageStore(collections).noteUnchanged(page)
  await letGoOn(collections, page)
}

type Content = Extract<WebAnswer, { kind: 'content' }>

async function take(
  deps: VisitDeps,
  source: SourceRecord,
  page: SourcePageRecord,
  { url, answer }: { url: string; answer: Content },
  position: IngestionPosition,
  signal: AbortSignal,
): Promise<{ fileId?: string }> {
  const { collections } = deps
  const { body, contentType, charset, etag, lastModified } = answer
  const facts = { url, etag, lastModified }
  if (!isMarkup(contentType, body)) {
    if (page.kind === 'list') {
      await leaveOut(collections, page, 'It is neither a sitemap nor a feed.')
      return {}
    }
    return keep(deps, source, page, { ...facts, title: undefined, contentType, body }, position)
  }
  const maxLinks = page.kind === 'list' ? crawlLimits.listedLinks : crawlLimits.links
  let read: PageRead
  try {
    read = await deps.pages.readPage({ url, body, charset, owner: source.assistant_id, maxLinks }, signal)
  } catch (error) {
    if (!isUnreadableFile(error)) throw error
    const reason = error.message.replace('This file', 'This page').replace('this file', 'this page')
    await (isFinal(error) ? leaveOut(collections, page, reason) : tryLater(deps, page, reason))
    return {}
  }
  if (page.kind === 'list') {
    await takeList(deps, source, page, read)
    return {}
  }
  if (!read.nofollow) await follow(deps, source, page, read)
  const reason = refusalReason(read)
  if (reason !== undefined) {
    await leaveOut(collections, page, reason)
    return {}
  }
  if (await hasAnotherAddress(deps, source, page, read)) return {}
  const text = { ...facts, title: read.title, contentType: 'text/html', body: Buffer.from(read.html) }
  return keep(deps, source, page, text, position)
}

/** HTML, XML, or what does not say what it is and looks like it. */
function isMarkup(contentType: string, body: Buffer): boolean {
  if (/^text\/html$|[+/]xml$/.test(contentType)) return true
  const isUnsaid =
    contentType === '' || contentType === 'text/plain' || /^application\/(octet-stream|(x-)?gzip)$/.test(contentType)
  return (
    isUnsaid &&
    /^\s*<(!doctype html|html\b|\?xml|urlset|sitemapindex|rss|feed)/i.test(body.subarray(0, 500).toString('latin1'))
  )
}

async function takeList(deps: VisitDeps, source: SourceRecord, page: SourcePageRecord, read: PageRead): Promise<void> {
  const { collections } = deps
  const wanted = source.type === 'feed' ? 'feed' : 'sitemap'
  const isWanted = read.kind === wanted || (wanted === 'sitemap' && read.kind === 'lists')
  if (!isWanted) return leaveOut(collections, page, `It is no ${wanted}.`)
  if (read.kind === 'lists' && page.depth >= crawlLimits.listDepth)
    return leaveOut(collections, page, 'Sitemaps name sitemaps too deeply.')
  const kind = read.kind === 'lists' ? 'list' : 'page'
  await discover(collections, source, { links: read.links, kind, depth: page.depth + 1, listedBy: page._id })
  // An article that its feed names no more may have moved, whatever it says by now: only a visit can tell. It is visited
  // again if that could not be read.
  if (source.type === 'feed') await sourcePageStore(collections).visitUnlisted(source)
  await noteUnchanged(collections, page)
}

async function follow(
  deps: VisitDeps,
  source: SourceRecord,
  page: SourcePageRecord,
  { links }: PageRead,
): Promise<void> {
  if (source.type !== 'site' || page.depth >= source.max_depth) return
  await discover(deps.collections, source, { links, kind: 'page', depth: page.depth + 1 })
}

function refusalReason(read: PageRead): string | undefined {
  if (read.kind !== 'page') return 'It is a list of pages. Add it as a sitemap or a feed.'
  if (read.noindex) return 'The page asks not to be indexed.'
  return read.html === '' ? 'It holds no readable text.' : undefined
}

/**
 * Whether a page is left to the address that it calls the right one: if that has a text of this round, or may have one
 * when it was visited. Of two pages that each call the other one the right one, one is kept.
 */
async function hasAnotherAddress(
  { collections }: VisitDeps,
  source: SourceRecord,
  page: SourcePageRecord,
  read: PageRead,
): Promise<boolean> {
  const canonical = read.canonical === undefined ? undefined : canonicalAddress(read.canonical)
  if (canonical === undefined || canonical === page.url || source.type === 'page' || source.type === 'feed')
    return false
  if (!isWithin(source, canonical) || addressFilter(source)(canonical) !== undefined) return false
  await discover(collections, source, { links: [canonical], kind: 'page', depth: page.depth })
  const other = await sourcePageStore(collections).find(pageIdOf(source._id, canonical))
  if (other === null) return false
  switch (standing(other, source.round)) {
    case 'text':
      await leaveOut(collections, page, `It is the same page as ${cutText(canonical, 300)}`)
      return true
    case 'open':
      await waitFor(collections, page, other)
      return true
    case 'none':
      return false
  }
}

/** Pages that are compared with one of the same text. */
const comparedPages = 20

/** Whether a page is left out, because another one of this round says the same; `mayWait`: or waits for one that may. */
async function isDuplicate(
  { collections }: VisitDeps,
  source: SourceRecord,
  page: SourcePageRecord,
  sha256: string | undefined,
  mayWait = false,
): Promise<boolean> {
  if (sha256 === undefined) return false
  const inRound = { ...page, source_id: source._id, round: source.round }
  const others = await sourcePageStore(collections).listSameText(inRound, sha256, comparedPages)
  const same = others.find((other) => standing(other, source.round) === 'text')
  if (same !== undefined) {
    await leaveOut(collections, page, `It says the same as ${cutText(same.url, 300)}`)
    return true
  }
  const open = mayWait ? others.find((other) => standing(other, source.round) === 'open') : undefined
  if (open === undefined) return false
  await waitFor(collections, page, open)
  return true
}

/** Makes a file of a text that is new. */
async function keep(
  deps: VisitDeps,
  source: SourceRecord,
  page: SourcePageRecord,
  text: PageText,
  position: IngestionPosition,
): Promise<{ fileId?: string }> {
  const { collections } = deps
  const sha256 = hashOf(text.body)
  const isSame = page.file_id !== undefined && page.sha256 === sha256
  // A feed that names an article with a text that it had under another address may have moved it: whether that one still
  // has the text, only a visit can tell.
  if (source.type === 'feed' && page.file_id === undefined)
    await sourcePageStore(collections).visitSameText(source, sha256)
  if (await isDuplicate(deps, source, page, sha256, !isSame)) return {}
  if (isSame) {
    const { etag, lastModified } = text
    await sourcePageStore(collections).noteFacts(page, {
      ...(etag === undefined ? {} : { etag }),
      ...(lastModified === undefined ? {} : { last_modified: lastModified }),
    })
    await noteUnchanged(collections, page)
    return {}
  }
  const file = await storeText(deps, source, page, text, position)
  return { fileId: file._id }
}
