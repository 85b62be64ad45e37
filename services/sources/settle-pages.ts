import type { CrawlStepInput } from '../../domain/contracts/crawl.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { SourcePageRecord } from '../../domain/records/source.ts'
import { type SourceCollections, keepOld, letGoOn } from './source-pages.ts'

const pagesAtOnce = 500

/**
 * Lets the search find the new text of each page whose embedding has ended, in place of the old one, by one statement.
 * `visits`: whether pages wait to be visited, also because an interrupted step left no file of them.
 */
export async function settlePages(
  collections: SourceCollections,
  { sourceId, crawlId }: CrawlStepInput,
): Promise<{ embedding: number; visits: boolean }> {
  const { sources, sourcePages, files } = collections
  const own = { _id: sourceId, crawl_id: crawlId, deleting: { $ne: true } }
  const source = await sources.findOneAndUpdate(own, { $set: { alive_at: new Date() } }).lean()
  if (source === null) return { embedding: 0, visits: false }
  const ofRound = { source_id: sourceId, round: source.round }
  let embedding = 0
  for (let after = ''; ;) {
    const pages = await sourcePages
      .find({ ...ofRound, status: 'processing', _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(pagesAtOnce)
      .lean<SourcePageRecord[]>()
    const found = await files
      .find({ _id: { $in: pages.flatMap(({ next_file_id: id }) => id ?? []) } }, { status: 1, error: 1, retryable: 1 })
      .lean<Pick<FileRecord, '_id' | 'status' | 'error'>[]>()
    const fileOf = new Map(found.map((file) => [file._id, file]))
    for (const page of pages) {
      const file = fileOf.get(page.next_file_id ?? '')
      if (!(await settle(collections, page, file))) embedding += 1
    }
    after = pages.at(-1)?._id ?? ''
    if (pages.length < pagesAtOnce) break
  }
  const visitable = { ...ofRound, status: 'waiting' as const, same_as: { $exists: false } }
  let visits = (await sourcePages.exists(visitable)) !== null
  if (!visits && embedding === 0) {
    // Should the end of the page that they wait for have been lost, they are visited all the same.
    const stuck = { ...ofRound, status: 'waiting' as const }
    visits = (await sourcePages.updateMany(stuck, { $unset: { same_as: 1, reason: 1 } })).matchedCount > 0
  }
  return { embedding, visits }
}

/** False if the file is still being processed. */
async function settle(
  collections: SourceCollections,
  page: SourcePageRecord,
  file: Pick<FileRecord, '_id' | 'status' | 'error'> | undefined,
): Promise<boolean> {
  const { sourcePages } = collections
  const same = { _id: page._id, next_file_id: page.next_file_id }
  if (file === undefined || file.status === 'uploading') {
    await sourcePages.updateOne(same, {
      $set: { status: 'waiting' },
      $unset: { next_file_id: 1, sha256: 1, etag: 1, last_modified: 1 },
      $inc: { tries: 1 },
    })
    return true
  }
  if (file.status === 'ready') {
    await sourcePages.updateOne(same, { $set: { status: 'ready', file_id: file._id }, $unset: { next_file_id: 1 } })
    await letGoOn(collections, page)
    return true
  }
  if (file.status !== 'failed') return false
  await sourcePages.updateOne(same, { $unset: { sha256: 1, etag: 1, last_modified: 1 } })
  await keepOld(collections, page, file.error ?? 'It could not be read.')
  return true
}
