import type { CrawlStepInput } from '../../domain/contracts/crawl.ts'
import { AppError } from '../../domain/errors.ts'
import type { SourceRecord } from '../../domain/records/source.ts'
import { sourcePageStore, sourceStore } from '../stores/sources.ts'
import { pageIdOf } from './source-pages.ts'
import { type SweepFilesDeps, sweepFiles } from './sweep-files.ts'

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
