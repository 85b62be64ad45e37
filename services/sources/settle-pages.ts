import type { CrawlStepInput } from '../../domain/contracts/crawl.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { SourcePageRecord } from '../../domain/records/source.ts'
import { fileStore } from '../stores/files.ts'
import { sourcePageStore, sourceStore } from '../stores/sources.ts'
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
  const store = sourcePageStore(collections)
  const source = await sourceStore(collections).continueCrawl({ sourceId, crawlId })
  if (source === null) return { embedding: 0, visits: false }
  let embedding = 0
  for (let after = ''; ;) {
    const pages = await store.listProcessing(source, after, pagesAtOnce)
    const found = await fileStore(collections).statesOfAny(pages.flatMap(({ next_file_id: id }) => id ?? []))
    const fileOf = new Map(found.map((file) => [file._id, file]))
    for (const page of pages) {
      const file = fileOf.get(page.next_file_id ?? '')
      if (!(await settle(collections, page, file))) embedding += 1
    }
    after = pages.at(-1)?._id ?? ''
    if (pages.length < pagesAtOnce) break
  }
  let visits = await store.hasVisitable(source)
  // Should the end of the page that they wait for have been lost, they are visited all the same.
  if (!visits && embedding === 0) visits = await store.stopAllWaiting(source)
  return { embedding, visits }
}

/** False if the file is still being processed. */
async function settle(
  collections: SourceCollections,
  page: SourcePageRecord,
  file: Pick<FileRecord, '_id' | 'status' | 'error'> | undefined,
): Promise<boolean> {
  const store = sourcePageStore(collections)
  if (file === undefined || file.status === 'uploading') {
    await store.revisit(page)
    return true
  }
  if (file.status === 'ready') {
    await store.takeText(page, file._id)
    await letGoOn(collections, page)
    return true
  }
  if (file.status !== 'failed') return false
  await store.forgetFacts(page)
  await keepOld(collections, page, file.error ?? 'It could not be read.')
  return true
}
