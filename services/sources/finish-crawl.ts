import type { CrawlStepInput } from '../../domain/contracts/crawl.ts'
import { AppError } from '../../domain/errors.ts'
import type { SourcePageRecord, SourceRecord } from '../../domain/records/source.ts'
import { pageIdOf } from './source-pages.ts'
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
  if (source.type === 'sitemap' && !isUnknown)
    await sourcePages.deleteMany({ source_id: sourceId, round: { $lt: source.round } })
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
