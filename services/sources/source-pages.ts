import { createHash } from 'node:crypto'
import type { SourcePageRecord, SourceRecord } from '../../domain/records/source.ts'
import type { Collections } from '../collections.ts'
import type { KnowledgeCollections } from '../knowledge/collections.ts'
import { sourcePageStore } from '../stores/sources.ts'

export type SourceCollections = KnowledgeCollections &
  Pick<Collections, 'users' | 'sources' | 'sourcePages' | 'assistants' | 'projects'>

export function pageIdOf(sourceId: string, url: string): string {
  return `${sourceId}:${createHash('sha256').update(url).digest('hex').slice(0, 32)}`
}

/** A page that has been met, and was not visited yet. */
export function newPage(
  source: SourceRecord,
  { url, kind, depth, order }: Pick<SourcePageRecord, 'url' | 'kind' | 'depth' | 'order'>,
): SourcePageRecord {
  return {
    _id: pageIdOf(source._id, url),
    source_id: source._id,
    user_id: source.user_id,
    assistant_id: source.assistant_id,
    url,
    kind,
    depth,
    order,
    round: source.round,
    status: 'waiting',
    tries: 0,
    taken: 0,
  }
}

/** Sitemaps and feeds are lists of pages. */
export const rootKind = ({ type }: Pick<SourceRecord, 'type'>): SourcePageRecord['kind'] =>
  type === 'sitemap' || type === 'feed' ? 'list' : 'page'

const fullRounds = 5

/**
 * Pages that are unchanged do not say where they lead. So the crawls of a site remember what they have met without a
 * text, except each fifth, which reads all pages whole: then what no page links to any more is forgotten.
 */
export const readsWhole = ({ type, round }: Pick<SourceRecord, 'type' | 'round'>): boolean =>
  type === 'site' && round % fullRounds === 0

type Pages = Pick<SourceCollections, 'sourcePages'>
type EndedPage = Pick<SourcePageRecord, '_id' | 'source_id' | 'round' | 'kind' | 'depth' | 'is_awaited'>

/** A page is left out, and its text, if it has one, with it. */
export async function leaveOut(collections: Pages, page: EndedPage, reason: string): Promise<void> {
  const store = sourcePageStore(collections)
  await store.leaveOut(page, reason)
  // Whether a list that was not read still names its pages, only they can tell.
  if (page.kind === 'list' && page.depth > 0) await store.visitListedBy(page, page._id)
  await letGoOn(collections, page)
}

/** A page whose text cannot be renewed now: what is known of it stays. Without one, it is left out. */
export async function keepOld(
  collections: Pages,
  page: EndedPage & Pick<SourcePageRecord, 'file_id'>,
  reason: string,
): Promise<void> {
  if (page.file_id === undefined) return leaveOut(collections, page, reason)
  await sourcePageStore(collections).keepText(page, reason)
  await letGoOn(collections, page)
}

/** Whether a page has a text of this round: what was not renewed is not known. `open`: it may have one soon. */
export function standing(page: SourcePageRecord, round: number): 'text' | 'open' | 'none' {
  if (page.round !== round) return 'none'
  if (page.status === 'ready') return page.reason === undefined ? 'text' : 'none'
  if (page.status === 'processing') return 'open'
  return page.status === 'waiting' && page.same_as === undefined ? 'open' : 'none'
}

/** A page waits until another has been visited, and is then visited again. Nobody waits for one that waits. */
export async function waitFor(
  collections: Pages,
  page: Pick<SourcePageRecord, '_id' | 'round'>,
  other: Pick<SourcePageRecord, '_id' | 'round' | 'url'>,
): Promise<void> {
  const reason = `It may be the same page as ${other.url.slice(0, 300)}`
  await sourcePageStore(collections).waitFor(page, other, reason)
}

/** The visit of a page has ended: those that waited for it are visited. */
export async function letGoOn(collections: Pages, page: Omit<EndedPage, 'kind' | 'depth'>): Promise<void> {
  if (page.is_awaited === true) await sourcePageStore(collections).letGoOn(page)
}
