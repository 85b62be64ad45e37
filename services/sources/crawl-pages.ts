import type { CrawlStepInput, CrawlStepResult } from '../../domain/contracts/crawl.ts'
import { AppError } from '../../domain/errors.ts'
import { derivedId } from '../../domain/ids.ts'
import type { SourceRecord } from '../../domain/records/source.ts'
import { crawlLimits } from '../../domain/sources/limits.ts'
import type { WorkUsage } from '../budgets/work.ts'
import type { StartIngestion } from '../knowledge/start-ingestion.ts'
import type { Semaphore } from '../semaphore.ts'
import { assistantStore } from '../stores/assistants.ts'
import { fileStore } from '../stores/files.ts'
import { sourcePageStore, sourceStore } from '../stores/sources.ts'
import { keepOld, leaveOut } from './source-pages.ts'
import { type VisitDeps, visitPage } from './visit-page.ts'

export interface CrawlPagesDeps extends VisitDeps {
  startIngestion: StartIngestion
  /** One user's crawls leave slots to others. */
  crawlSlots: Pick<Semaphore, 'acquire'>
  workUsage: Pick<WorkUsage, 'note' | 'refusalOf'>
}

/** Files of one ingestion. */
const filesInBatch = 20
const visitsInBatch = 100
/** So that the first pages can soon be found. */
const batchMs = 15_000

/**
 * Visits the next pages of a source, one after the other, and starts the ingestion of their texts. A repeated step finds
 * the files of the interrupted one by the id of their ingestion, which it only starts: then none is left out of it.
 */
export async function crawlPages(
  deps: CrawlPagesDeps,
  { sourceId, crawlId, batch }: CrawlStepInput & { batch: number },
  signal: AbortSignal,
): Promise<CrawlStepResult> {
  const source = await sourceStore(deps.collections).continueCrawl({ sourceId, crawlId })
  if (source === null) return 'gone'
  const release = await deps.crawlSlots.acquire(source.user_id, signal)
  if (release === undefined) return 'busy'
  try {
    const ingestionId = derivedId([sourceId, crawlId, String(batch)], '')
    const made = await fileStore(deps.collections).listArrived(ingestionId)
    const result =
      made.length > 0 ? { next: 'more' as const } : await visitNext(deps, source, crawlId, ingestionId, signal)
    const fileIds = 'fileIds' in result ? result.fileIds : made
    if (fileIds.length > 0) {
      const owner = await assistantStore(deps.collections).findLocationOfAny(source.assistant_id)
      if (owner === null) return 'gone'
      await deps.startIngestion(owner, { ingestionId, fileIds })
    }
    return result.next
  } finally {
    release()
  }
}

async function visitNext(
  deps: CrawlPagesDeps,
  begun: SourceRecord,
  crawlId: string,
  ingestionId: string,
  signal: AbortSignal,
): Promise<{ next: CrawlStepResult; fileIds: string[] }> {
  const sources = sourceStore(deps.collections)
  const pages = sourcePageStore(deps.collections)
  let retained = await pages.countRetained(begun)
  const fileIds: string[] = []
  let source: SourceRecord | null = begun
  const until = performance.now() + batchMs
  for (let visits = 0; visits < visitsInBatch && fileIds.length < filesInBatch; visits++) {
    signal.throwIfAborted()
    if (!(await assistantStore(deps.collections).isUsableOfAny(source.assistant_id))) {
      await pages.leaveOutWaiting(source, 'Nothing is read while the account is suspended.')
      return { next: 'done', fileIds }
    }
    const spent = await deps.workUsage.refusalOf({ assistantId: source.assistant_id })
    if (spent !== undefined) {
      await pages.leaveOutWaiting(source, spent)
      return { next: 'done', fileIds }
    }
    const full = whyFull(source, retained)
    if (full !== undefined) {
      // A page whose text turns out to be unreadable makes room for another.
      if (await pages.hasProcessing(begun)) return { next: 'full', fileIds }
      await pages.leaveOutWaiting(source, full)
      return { next: 'done', fileIds }
    }
    const page = await pages.takeNext(begun)
    if (page === null) return { next: 'done', fileIds }
    if (page.taken > crawlLimits.taken) {
      await keepOld(deps.collections, page, 'Each attempt to read it failed without a reason.')
      continue
    }
    const visit = await visitPage(deps, source, page, { ingestionId, order: fileIds.length }, signal).catch(refusalOf)
    if ('refusal' in visit) {
      await leaveOut(deps.collections, page, visit.refusal)
      await pages.leaveOutWaiting(source, visit.refusal)
      return { next: 'done', fileIds }
    }
    if (visit.bytes > 0) await deps.workUsage.note({ assistantId: source.assistant_id }, { crawled_pages: 1 })
    if (visit.fileId !== undefined) fileIds.push(visit.fileId)
    const now = await pages.find(page._id)
    if (now?.kind === 'page' && (now.status === 'processing' || now.status === 'ready')) retained += 1
    source = await sources.continueCrawl({ sourceId: begun._id, crawlId }, visit.bytes)
    if (source === null) return { next: 'gone', fileIds }
    if (performance.now() > until) break
  }
  return { next: 'more', fileIds }
}

/** The storage of the owner is full; every other failure is thrown. */
function refusalOf(error: unknown): { refusal: string } {
  if (error instanceof AppError && error.code === 'payload_too_large') return { refusal: error.message }
  throw error
}

function whyFull({ bytes, max_pages: most }: SourceRecord, retained: number): string | undefined {
  if (retained >= most) return `The source has its ${most} pages (\`max_pages\`).`
  return bytes >= crawlLimits.sourceBytes ? 'The source has its gigabyte.' : undefined
}
