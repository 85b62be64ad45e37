import { createHash } from 'node:crypto'
import type { SourcePageRecord, SourceRecord } from '../../domain/records/source.ts'
import { addressFilter, canonicalAddress, isWithin } from '../../domain/sources/addresses.ts'
import { crawlLimits, knownAddressesMax } from '../../domain/sources/limits.ts'
import { sourcePageStore, sourceStore } from '../stores/sources.ts'
import { createTurns } from '../turns.ts'
import { type SourceCollections, newPage } from './source-pages.ts'

type Collections = Pick<SourceCollections, 'sources' | 'sourcePages'>
type Pages = ReturnType<typeof sourcePageStore>

export interface Found {
  links: string[]
  kind: SourcePageRecord['kind']
  depth: number
  /** The list that names them. */
  listedBy?: string
}

/** Resources of pages, which are no pages. */
const resources =
  /\.(css|js|mjs|json|map|png|jpe?g|gif|webp|avif|svg|ico|bmp|tiff?|mp[34]|m4[av]|webm|og[gv]|wav|avi|mov|woff2?|ttf|eot|zip|gz|tgz|bz2|xz|7z|rar|dmg|exe|msi|apk|iso|jar|whl|deb|rpm)$/i
const recordsInWrite = 500

/**
 * Puts new addresses on the list of those to be visited. Whatever a site invents, the records stay few: what is beyond
 * their number is only counted.
 */
export async function discover(collections: Collections, source: SourceRecord, found: Found): Promise<void> {
  const store = sourcePageStore(collections)
  const addresses = await wantedAddresses(source, found)
  const known = await store.countOfRound(source)
  let room = knownAddressesMax(source.max_pages) - known
  let order = known
  let ignored = 0
  for (let at = 0; at < addresses.length; at += recordsInWrite) {
    const pages = addresses.slice(at, at + recordsInWrite).map(({ url, reason }) => ({
      ...newPage(source, { url, kind: found.kind, depth: found.depth, order: order++ }),
      ...(found.listedBy === undefined ? {} : { listed_by: [found.listedBy] }),
      ...(reason === undefined ? {} : { status: 'left_out' as const, reason }),
      ...(queryOf(url) === undefined ? {} : { query_of: queryOf(url) }),
    }))
    const fresh = await unknown(store, source, pages)
    await noteList(store, source, pages)
    const limited = await withinQueries(store, source, fresh)
    const taken = limited.slice(0, Math.max(0, room))
    room -= taken.length
    ignored += fresh.length - taken.length
    await store.addAll(taken)
  }
  if (ignored > 0) await sourceStore(collections).countIgnored(source, ignored)
}

/** Canonical, each once, of the source; `reason`: why one is not visited. */
async function wantedAddresses(source: SourceRecord, { links, kind }: Found) {
  const reasons = new Map<string, string | undefined>()
  const whyLeftOut = addressFilter(source)
  const turns = createTurns()
  for (const link of links) {
    await turns.next()
    const url = canonicalAddress(link)
    if (url === undefined || reasons.has(url) || !isWithin(source, url)) continue
    if (kind === 'page' && resources.test(new URL(url).pathname)) continue
    reasons.set(url, kind === 'list' ? undefined : whyLeftOut(url))
  }
  return [...reasons].map(([url, reason]) => ({ url, reason }))
}

/** Those without a record. Those that an earlier crawl has met are visited again. */
async function unknown(store: Pages, source: SourceRecord, pages: SourcePageRecord[]) {
  const found = await store.roundsOf(pages.map(({ _id }) => _id))
  const old = found.filter(({ round }) => round < source.round).map(({ _id }) => _id)
  for (const page of pages.filter(({ _id }) => old.includes(_id))) await store.meetAgain(page)
  const known = new Set(found.map(({ _id }) => _id))
  return pages.filter(({ _id }) => !known.has(_id))
}

/** A page may be in several lists. */
async function noteList(store: Pages, source: SourceRecord, pages: SourcePageRecord[]) {
  const [list] = pages[0]?.listed_by ?? []
  if (list === undefined) return
  await store.noteListed(
    source._id,
    pages.map(({ _id }) => _id),
    list,
  )
}

/** The path of an address with a query. */
function queryOf(url: string): string | undefined {
  const { host, pathname, search } = new URL(url)
  return search === '' ? undefined : createHash('sha256').update(`${host}${pathname}`).digest('hex').slice(0, 32)
}

/** Filters and sort orders of one page make addresses without end. */
async function withinQueries(store: Pages, source: SourceRecord, pages: SourcePageRecord[]) {
  const paths = [...new Set(pages.flatMap(({ query_of: path }) => path ?? []))]
  if (paths.length === 0) return pages
  const counts = await store.countQueries(source._id, paths)
  return pages.filter(({ query_of: path }) => {
    if (path === undefined) return true
    const count = (counts.get(path) ?? 0) + 1
    counts.set(path, count)
    return count <= crawlLimits.queriesOfPath
  })
}
