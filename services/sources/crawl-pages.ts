import type { CrawlStepInput, CrawlStepResult } from '../../domain/contracts/crawl.ts'
import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { SourcePageRecord, SourceRecord } from '../../domain/records/source.ts'
import { crawlLimits } from '../../domain/sources/limits.ts'
import { isUsable } from './begin-crawl.ts'
import type { WorkUsage } from '../budgets/work.ts'
import { derivedId } from '../../domain/derived-id.ts'
import type { StartIngestion } from '../knowledge/start-ingestion.ts'
import type { Semaphore } from '../semaphore.ts'
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
  const { files } = deps.collections
  const source = await goOn(deps, { sourceId, crawlId })
  if (source === null) return 'gone'
  const release = await deps.crawlSlots.acquire(source.user_id, signal)
  if (release === undefined) return 'busy'
  try {
    const ingestionId = derivedId([sourceId, crawlId, String(batch)], '')
    const ready = { ingestion_id: ingestionId, status: { $ne: 'uploading' as const } }
    const made = await files.find(ready, { _id: 1 }).sort({ order: 1 }).lean<{ _id: string }[]>()
    const result =
      made.length > 0 ? { next: 'more' as const } : await visitNext(deps, source, crawlId, ingestionId, signal)
    const fileIds = 'fileIds' in result ? result.fileIds : made.map(({ _id }) => _id)
    if (fileIds.length > 0) {
      const owner = await deps.collections.assistants
        .findById(source.assistant_id, { user_id: 1, project_id: 1 })
        .lean<Pick<AssistantRecord, '_id' | 'user_id' | 'project_id'>>()
      if (owner === null) return 'gone'
      await deps.startIngestion(owner, { ingestionId, fileIds })
    }
    return result.next
  } finally {
    release()
  }
}

/** The source, if this crawl may still write; also says that the crawl is alive. */
function goOn(
  { collections: { sources } }: Pick<CrawlPagesDeps, 'collections'>,
  { sourceId, crawlId }: CrawlStepInput,
  bytes = 0,
): Promise<SourceRecord | null> {
  return sources
    .findOneAndUpdate(
      { _id: sourceId, crawl_id: crawlId, deleting: { $ne: true } },
      { $set: { alive_at: new Date() }, $inc: { bytes } },
      { returnDocument: 'after' },
    )
    .lean<SourceRecord>()
}

async function visitNext(
  deps: CrawlPagesDeps,
  begun: SourceRecord,
  crawlId: string,
  ingestionId: string,
  signal: AbortSignal,
): Promise<{ next: CrawlStepResult; fileIds: string[] }> {
  const { sourcePages } = deps.collections
  const ofRound = { source_id: begun._id, round: begun.round }
  let kept = await sourcePages.countDocuments({ ...ofRound, kind: 'page', status: { $in: ['processing', 'ready'] } })
  const fileIds: string[] = []
  let source: SourceRecord | null = begun
  const until = performance.now() + batchMs
  for (let visits = 0; visits < visitsInBatch && fileIds.length < filesInBatch; visits++) {
    signal.throwIfAborted()
    if (!(await isUsable(deps.collections, source))) {
      await leaveOutRest(deps, source, 'Nothing is read while the account is suspended.')
      return { next: 'done', fileIds }
    }
    const spent = await deps.workUsage.refusalOf({ assistantId: source.assistant_id })
    if (spent !== undefined) {
      await leaveOutRest(deps, source, spent)
      return { next: 'done', fileIds }
    }
    const full = whyFull(source, kept)
    if (full !== undefined) {
      // A page whose text turns out to be unreadable makes room for another.
      if ((await sourcePages.exists({ ...ofRound, status: 'processing' })) !== null) return { next: 'full', fileIds }
      await leaveOutRest(deps, source, full)
      return { next: 'done', fileIds }
    }
    const page: SourcePageRecord | null = await sourcePages
      .findOneAndUpdate(
        { ...ofRound, status: 'waiting', same_as: { $exists: false } },
        { $inc: { taken: 1 } },
        { sort: { depth: 1, order: 1, _id: 1 }, returnDocument: 'after' },
      )
      .lean<SourcePageRecord>()
    if (page === null) return { next: 'done', fileIds }
    if (page.taken > crawlLimits.taken) {
      await keepOld(deps.collections, page, 'Each attempt to read it failed without a reason.')
      continue
    }
    const visit = await visitPage(deps, source, page, { ingestionId, order: fileIds.length }, signal).catch(refusalOf)
    if ('refusal' in visit) {
      await leaveOut(deps.collections, page, visit.refusal)
      await leaveOutRest(deps, source, visit.refusal)
      return { next: 'done', fileIds }
    }
    if (visit.bytes > 0) await deps.workUsage.note({ assistantId: source.assistant_id }, { crawled_pages: 1 })
    if (visit.fileId !== undefined) fileIds.push(visit.fileId)
    const now = await sourcePages.findById(page._id, { status: 1, kind: 1 }).lean<SourcePageRecord>()
    if (now?.kind === 'page' && (now.status === 'processing' || now.status === 'ready')) kept += 1
    source = await goOn(deps, { sourceId: begun._id, crawlId }, visit.bytes)
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

function whyFull({ bytes, max_pages: most }: SourceRecord, kept: number): string | undefined {
  if (kept >= most) return `The source has its ${most} pages (\`max_pages\`).`
  return bytes >= crawlLimits.sourceBytes ? 'The source has its gigabyte.' : undefined
}

/** What was known of these pages stays. */
async function leaveOutRest({ collections }: CrawlPagesDeps, source: SourceRecord, reason: string): Promise<void> {
  const { sourcePages } = collections
  const waiting = { source_id: source._id, round: source.round, status: 'waiting' as const }
  await sourcePages.updateMany(
    { ...waiting, file_id: { $exists: true } },
    { $set: { status: 'ready', reason }, $unset: { unlisted: 1 } },
  )
  await sourcePages.updateMany(waiting, { $set: { status: 'left_out', reason } })
}
