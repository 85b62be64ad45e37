import type { CrawlStepInput } from '../../domain/contracts/crawl.ts'
import type { SourceRecord } from '../../domain/records/source.ts'
import { assistantStore } from '../stores/assistants.ts'
import { sourcePageStore, sourceStore } from '../stores/sources.ts'
import { type SourceCollections, newPage, readsWhole, rootKind } from './source-pages.ts'

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
