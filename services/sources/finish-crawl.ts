import type { CrawlStepInput } from '../../domain/contracts/crawl.ts'
import { AppError } from '../../domain/errors.ts'
import type { SourcePageRecord, SourceRecord } from '../../domain/records/source.ts'
import { type SourceCollections, pageIdOf } from './source-pages.ts'
import { type SweepFilesDeps, sweepFiles } from './sweep-files.ts'

/** Takes gone pages out of the search, removes what no page needs any more, and says how the crawl ended. */
export async function finishCrawl(
  deps: SweepFilesDeps,
  { sourceId, crawlId }: CrawlStepInput,
  signal: AbortSignal,
): Promise<boolean> {
  const { sources, sourcePages } = deps.collections
  const own = { _id: sourceId, crawl_id: crawlId, deleting: { $ne: true } }
  const source = await sources.findOneAndUpdate(own, { $set: { alive_at: new Date() } }).lean<SourceRecord>()
  if (source === null) return false
  const root = await sourcePages.findById(pageIdOf(sourceId, source.url)).lean<SourcePageRecord>()
  const isUnknown = root?.kind === 'list' && root.status !== 'ready'
  // What a sitemap does not name any more is gone. A feed names only what is new.
  if (source.type === 'sitemap' && !isUnknown) await removeUnnamed(deps.collections, source)
  if ((await sweepFiles(deps, sourceId, signal)) > 0)
    throw new AppError('unavailable', 'Parts of old pages have not been removed yet.')
  const pages = await sourcePages.countDocuments({ source_id: sourceId, file_id: { $exists: true } })
  const error = isUnknown || pages === 0 ? (root?.reason ?? 'No page of it could be read.') : undefined
  const now = new Date()
  const { matchedCount } = await sources.updateOne(own, {
    $set: {
      status: error === undefined ? 'ready' : 'failed',
      ...(error === undefined ? {} : { error }),
      crawled_at: now,
      updated_at: now,
    },
    $unset: { crawl_id: 1, ...(error === undefined ? { error: 1 } : {}) },
  })
  return matchedCount > 0
}

/** Removes the pages that only lists have named which were read in this round, or are gone themselves. */
async function removeUnnamed(
  { sourcePages }: Pick<SourceCollections, 'sourcePages'>,
  { _id: sourceId, round }: SourceRecord,
): Promise<void> {
  const lists = await sourcePages
    .find({ source_id: sourceId, kind: 'list' }, { round: 1, status: 1, listed_by: 1 })
    .lean<Pick<SourcePageRecord, '_id' | 'round' | 'status' | 'listed_by'>[]>()
  const unread = new Set(lists.filter((list) => list.round === round && list.status !== 'ready').map(({ _id }) => _id))
  // A list that only unread lists have named may still be one.
  for (let known = -1; known < unread.size;) {
    known = unread.size
    for (const { _id, round: last, listed_by: by } of lists)
      if (last < round && unread.size > 0 && (by?.some((list) => unread.has(list)) ?? true)) unread.add(_id)
  }
  const named = unread.size === 0 ? {} : { listed_by: { $exists: true, $nin: [...unread] }, _id: { $nin: [...unread] } }
  await sourcePages.deleteMany({ source_id: sourceId, round: { $lt: round }, ...named })
}
