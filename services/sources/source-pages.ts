import { createHash } from 'node:crypto'
import { cutText } from '../../domain/cut-text.ts'
import type { SourcePageRecord, SourceRecord } from '../../domain/records/source.ts'
import type { Collections } from '../collections.ts'
import type { KnowledgeCollections } from '../knowledge/collections.ts'

export type SourceCollections = KnowledgeCollections &
  Pick<Collections, 'sources' | 'sourcePages' | 'assistants' | 'projects'>

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

/** A page that was met by an earlier crawl, and is visited by this one. */
export function visitedAgain(round: number) {
  return {
    $set: { round, status: 'waiting' as const, tries: 0, taken: 0 },
    $unset: { reason: 1, same_as: 1, is_awaited: 1 },
  }
}

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
  const { sourcePages } = collections
  const { _id, source_id, round, kind, depth } = page
  await sourcePages.updateOne(
    { _id, round },
    {
      $set: { status: 'left_out', reason: cutText(reason, 500), fetched_at: new Date() },
      $unset: { file_id: 1, next_file_id: 1, sha256: 1, etag: 1, last_modified: 1 },
    },
  )
  // Whether a list that was not read still names its pages, only they can tell.
  if (kind === 'list' && depth > 0)
    await sourcePages.updateMany(
      { source_id, round: { $lt: round }, $or: [{ listed_by: _id }, { listed_by: { $exists: false } }] },
      visitedAgain(round),
    )
  await letGoOn(collections, page)
}

/** A page whose text cannot be renewed now: what is known of it stays. Without one, it is left out. */
export async function keepOld(
  collections: Pages,
  page: EndedPage & Pick<SourcePageRecord, 'file_id'>,
  reason: string,
): Promise<void> {
  if (page.file_id === undefined) return leaveOut(collections, page, reason)
  await collections.sourcePages.updateOne(
    { _id: page._id, round: page.round },
    {
      $set: { status: 'ready', reason: cutText(`Not renewed: ${reason}`, 500) },
      $unset: { next_file_id: 1, unlisted: 1 },
    },
  )
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
  { sourcePages }: Pages,
  page: Pick<SourcePageRecord, '_id' | 'round'>,
  other: Pick<SourcePageRecord, '_id' | 'round' | 'url'>,
): Promise<void> {
  await sourcePages.updateOne({ _id: other._id, round: other.round }, { $set: { is_awaited: true } })
  const reason = `It may be the same page as ${other.url.slice(0, 300)}`
  await sourcePages.updateOne({ _id: page._id, round: page.round }, { $set: { same_as: other._id, reason } })
}

/** The visit of a page has ended: those that waited for it are visited. */
export async function letGoOn(
  { sourcePages }: Pages,
  { _id, source_id, round, is_awaited: isAwaited }: Omit<EndedPage, 'kind' | 'depth'>,
): Promise<void> {
  if (isAwaited !== true) return
  await sourcePages.updateMany({ source_id, round, same_as: _id }, { $unset: { same_as: 1, reason: 1 } })
}
