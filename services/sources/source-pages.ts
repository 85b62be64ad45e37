import { createHash } from 'node:crypto'
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

/** A page is left out, and its text, if it has one, with it. */
export async function leaveOut(
  { sourcePages }: Pick<SourceCollections, 'sourcePages'>,
  { _id, round }: Pick<SourcePageRecord, '_id' | 'round'>,
  reason: string,
): Promise<void> {
  await sourcePages.updateOne(
    { _id, round },
    {
      $set: { status: 'left_out', reason: reason.slice(0, 500), fetched_at: new Date() },
      $unset: { file_id: 1, next_file_id: 1, sha256: 1, etag: 1, last_modified: 1 },
    },
  )
}

/** A page whose text cannot be renewed now: what is known of it stays. Without one, it is left out. */
export async function keepOld(
  collections: Pick<SourceCollections, 'sourcePages'>,
  page: Pick<SourcePageRecord, '_id' | 'round' | 'file_id'>,
  reason: string,
): Promise<void> {
  if (page.file_id === undefined) return leaveOut(collections, page, reason)
  await collections.sourcePages.updateOne(
    { _id: page._id, round: page.round },
    { $set: { status: 'ready', reason: `Not renewed: ${reason}`.slice(0, 500) }, $unset: { next_file_id: 1 } },
  )
}
