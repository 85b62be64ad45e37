import type { CrawlStepInput } from '../../domain/contracts/crawl.ts'
import { AppError } from '../../domain/errors.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { SourcePageRecord, SourceRecord } from '../../domain/records/source.ts'
import { assistantStore } from '../stores/assistants.ts'
import { fileStore } from '../stores/files.ts'
import { sourcePageStore, sourceStore } from '../stores/sources.ts'
import { type SourceCollections, keepOld, letGoOn, newPage, pageIdOf, readsWhole, rootKind } from './source-pages.ts'
import { type SweepFilesDeps, sweepFiles } from './sweep-files.ts'

type Collections = Pick<SourceCollections, 'sources' | 'sourcePages' | 'assistants'>

/**
 * Takes a source for this crawl, unless another one is under way, and puts the pages that it knows on the list of those
 * to be visited. Safe to repeat.
 */
export async function beginCrawl(collections: Collections, step: CrawlStepInput): Promise<boolean> {
  const sources = sourceStore(collections)
  const known = await sources.findOfAny(step.sourceId)
  // Nothing is read for an assistant that is suspended or being deleted.
  if (known === null || !(await assistantStore(collections).isUsableOfAny(known.assistant_id))) return false
  const source = await sources.beginCrawl(step)
  if (source === null) return false
  await openRound(collections, source)
  return true
}

async function openRound(collections: Collections, source: SourceRecord): Promise<void> {
  const pages = sourcePageStore(collections)
  await pages.forgetUnfinished(source)
  if (source.type !== 'site' || readsWhole(source)) await pages.removeTextless(source)
  // Of a site, a page is gone when it is not there any more, whoever links to it; a list names those that it has.
  if (rootKind(source) === 'page') await pages.visitAllAgain(source)
  await pages.visitRoot(newPage(source, { url: source.url, kind: rootKind(source), depth: 0, order: 0 }))
}

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
      if (!(await recordPage(collections, page, file))) embedding += 1
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
async function recordPage(
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

/** Takes gone pages out of the search, removes what no page needs any more, and says how the crawl ended. */
export async function finishCrawl(
  deps: SweepFilesDeps,
  { sourceId, crawlId }: CrawlStepInput,
  signal: AbortSignal,
): Promise<boolean> {
  const sources = sourceStore(deps.collections)
  const pages = sourcePageStore(deps.collections)
  const source = await sources.continueCrawl({ sourceId, crawlId })
  if (source === null) return false
  const root = await pages.find(pageIdOf(sourceId, source.url))
  const isUnknown = root?.kind === 'list' && root.status !== 'ready'
  // What a sitemap does not name any more is gone. A feed names only what is new.
  if (source.type === 'sitemap' && !isUnknown) await removeUnnamed(pages, source)
  if ((await sweepFiles(deps, sourceId, signal)) > 0)
    throw new AppError('unavailable', 'Parts of old pages have not been removed yet.')
  const hasText = (await pages.countWithText(sourceId)) > 0
  const error = isUnknown || !hasText ? (root?.reason ?? 'No page of it could be read.') : undefined
  return sources.endCrawl({ sourceId, crawlId }, error)
}

/** Removes the pages that only lists have named which were read in this round, or are gone themselves. */
async function removeUnnamed(
  pages: Pick<ReturnType<typeof sourcePageStore>, 'listLists' | 'removeUnnamed'>,
  { _id, round }: SourceRecord,
): Promise<void> {
  const lists = await pages.listLists(_id)
  const unread = new Set(lists.filter((list) => list.round === round && list.status !== 'ready').map(({ _id }) => _id))
  // A list that only unread lists have named may still be one.
  for (let known = -1; known < unread.size;) {
    known = unread.size
    for (const { _id: list, round: last, listed_by: by } of lists)
      if (last < round && unread.size > 0 && (by?.some((one) => unread.has(one)) ?? true)) unread.add(list)
  }
  await pages.removeUnnamed({ _id, round }, [...unread])
}
