import type { CrawlStepInput } from '../../domain/contracts/crawl.ts'
import { type SourceRecord, deadCrawlMs } from '../../domain/records/source.ts'
import { type SourceCollections, newPage, pageIdOf, readsWhole, rootKind, visitedAgain } from './source-pages.ts'

type Collections = Pick<SourceCollections, 'sources' | 'sourcePages' | 'assistants'>

/**
 * Takes a source for this crawl, unless another one is under way, and puts the pages that it knows on the list of those
 * to be visited. Safe to repeat.
 */
export async function beginCrawl(collections: Collections, { sourceId, crawlId }: CrawlStepInput): Promise<boolean> {
  const { sources } = collections
  const known = await sources.findById(sourceId).lean<SourceRecord>()
  if (known === null || !(await isUsable(collections, known))) return false
  const begun = await sources
    .findOne({ _id: sourceId, crawl_id: crawlId, deleting: { $ne: true } })
    .lean<SourceRecord>()
  const now = new Date()
  const source =
    begun ??
    (await sources
      .findOneAndUpdate(
        {
          _id: sourceId,
          deleting: { $ne: true },
          $or: [{ crawl_id: { $exists: false } }, { alive_at: { $lt: new Date(now.getTime() - deadCrawlMs) } }],
        },
        {
          $set: { crawl_id: crawlId, alive_at: now, status: 'crawling', bytes: 0, ignored: 0, updated_at: now },
          $unset: { error: 1 },
          $inc: { round: 1 },
        },
        { returnDocument: 'after' },
      )
      .lean<SourceRecord>())
  if (source === null) return false
  await openRound(collections, source)
  return true
}

async function openRound({ sourcePages }: Collections, source: SourceRecord): Promise<void> {
  const { _id: sourceId, round } = source
  const earlier = { source_id: sourceId, round: { $lt: round } }
  const without = { $exists: false }
  // Texts that a crawl before has not brought to their end; its sweep of files did not come either.
  await sourcePages.updateMany(
    { ...earlier, next_file_id: { $exists: true } },
    { $unset: { next_file_id: 1, sha256: 1, etag: 1, last_modified: 1 } },
  )
  if (source.type !== 'site' || readsWhole(source)) await sourcePages.deleteMany({ ...earlier, file_id: without })
  const again = visitedAgain(round)
  // Of a site, a page is gone when it is not there any more, whoever links to it; a list names those that it has.
  if (rootKind(source) === 'page') await sourcePages.updateMany(earlier, again)
  const root = newPage(source, { url: source.url, kind: rootKind(source), depth: 0, order: 0 })
  const rootId = pageIdOf(sourceId, source.url)
  const known = await sourcePages.updateOne({ _id: rootId, ...earlier }, again)
  if (known.matchedCount === 0 && (await sourcePages.exists({ _id: rootId })) === null) await sourcePages.create([root])
}

/** Nothing is read for an assistant that is suspended or being deleted. */
export async function isUsable(
  { assistants }: Pick<Collections, 'assistants'>,
  { assistant_id: id }: SourceRecord,
): Promise<boolean> {
  const usable = { deleting: { $ne: true }, suspended: { $ne: true } }
  return (await assistants.exists({ _id: id, ...usable })) !== null
}
