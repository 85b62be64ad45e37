import type { SourceRecord } from '../records/source.ts'
import { sourceLimits } from '../records/source.ts'
import { readGlob } from './globs.ts'

const trackers = new Set(['gclid', 'fbclid', 'msclkid', 'mc_cid', 'mc_eid', 'igshid', '_ga', 'sessionid', 'phpsessid'])

/**
 * One form of an address for all that lead to the same page: without fragment, credentials, session and campaign.
 * Undefined for what is not an http or https address of a bearable length.
 */
export function canonicalAddress(text: string, base?: string): string | undefined {
  if (text.length > sourceLimits.urlLength || !URL.canParse(text, base)) return undefined
  const url = new URL(text, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  if (url.username !== '' || url.password !== '') return undefined
  url.hash = ''
  if (url.search !== '') {
    const names = [...url.searchParams.keys()].filter(isTracker)
    for (const name of names) url.searchParams.delete(name)
  }
  if (url.href.endsWith('?')) url.search = ''
  return url.href.length > sourceLimits.urlLength ? undefined : url.href
}

function isTracker(name: string): boolean {
  const lower = name.toLowerCase()
  return lower.startsWith('utm_') || trackers.has(lower)
}

/** How a page is called where it is cited: its address without the scheme. */
export function addressName(url: string): string {
  const { host, pathname, search } = new URL(url)
  return `${host}${pathname === '/' ? '' : pathname}${search}`.slice(0, 500)
}

/**
 * Whether an address belongs to a source. A site is the pages of its host at and below the address, or below that to
 * which the address leads; a sitemap names
 * pages of its host; a feed may name any.
 */
export function isWithin(
  { type, url, moved_to: start = url }: Pick<SourceRecord, 'type' | 'url' | 'moved_to'>,
  address: string,
): boolean {
  if (type === 'feed') return true
  const [begin, requested] = [new URL(start), new URL(address)]
  if (hostOf(begin) !== hostOf(requested)) return false
  if (type === 'sitemap') return true
  const folder = folderOf(begin.pathname)
  return requested.pathname === folder || requested.pathname.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}

/** The same site with and without `www.`. */
function hostOf({ host }: URL): string {
  return host.replace(/^www\./, '')
}

/** `/docs/index.html` is a page of `/docs/`; `/docs` is the beginning of what is below it. */
function folderOf(path: string): string {
  const end = path.lastIndexOf('/') + 1
  return path.slice(end).includes('.') ? path.slice(0, end) : path
}

/**
 * Tells why an address of a source is left out by its globs, or looks like a trap; undefined if it is not. For one
 * address after the other: the globs are read once.
 */
export function addressFilter({ include, exclude }: Pick<SourceRecord, 'include' | 'exclude'>) {
  const read = (glob: string) => ({ isPath: glob.startsWith('/'), matches: readGlob(glob) })
  const [included, excluded] = [include.map(read), exclude.map(read)]
  return (address: string): string | undefined => {
    const { pathname, search } = new URL(address)
    if (looksEndless(pathname, search)) return 'Its address repeats itself, as those of endless pages do.'
    const path = pathname + search
    const isMatched = ({ isPath, matches }: ReturnType<typeof read>) => matches(isPath ? path : address)
    if (excluded.some(isMatched)) return 'Excluded by `exclude`.'
    return included.length > 0 && !included.some(isMatched) ? 'Not among `include`.' : undefined
  }
}

/** Parts of a path, and of a query. */
const maxParts = 30

/** `/a/b/a/b/a/b`: what a link that is relative by mistake makes. */
function looksEndless(path: string, search: string): boolean {
  const parts = path.split('/').filter((part) => part !== '')
  if (parts.length > maxParts || search.split('/').length > maxParts) return true
  const counts = new Map<string, number>()
  for (const part of parts) counts.set(part, (counts.get(part) ?? 0) + 1)
  return [...counts.values()].some((count) => count > 3)
}
