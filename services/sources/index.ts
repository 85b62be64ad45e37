import type { ClientSession } from 'mongoose'
import { sourceDeletionContract } from '../../domain/contracts/crawl.ts'
import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { largestOf } from '../../domain/extremes.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type SourceRecord, type SourceRefresh, type SourceType, sourceLimits } from '../../domain/records/source.ts'
import { isTimezone, problemOfCron } from '../../domain/schedules/next-times.ts'
import { canonicalAddress } from '../../domain/sources/addresses.ts'
import { problemOfGlob } from '../../domain/sources/globs.ts'
import type { Collections } from '../collections.ts'
import type { Uploads } from '../knowledge/uploads.ts'
import type { Outbound } from '../outbound.ts'
import { lockAssistant, lockUser } from '../parents.ts'
import { passOn } from '../pass-on.ts'
import { purchaseStore } from '../stores/purchases.ts'
import { receiptStore } from '../stores/receipts.ts'
import { sourceStore } from '../stores/sources.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { deletionOfSource, openSourceReceipt } from './delete-source.ts'
import { type Owner, type SourceView, createSourceReads, missing } from './read-sources.ts'
import type { SyncSource } from './sync-sources.ts'

interface SourcesDeps {
  collections: Pick<
    Collections,
    'sources' | 'sourcePages' | 'files' | 'users' | 'assistants' | 'purchases' | 'receipts'
  >
  transaction: RunInTransaction
  workflows: Pick<WorkflowClient, 'start' | 'result'>
  outbound: Pick<Outbound, 'assertReachable'>
  uploads: Pick<Uploads, 'admit'>
  sync: SyncSource
  settings: { sourceMaxDefault: number }
  /** How long a request waits for the end of a deletion. */
  deletionWaitMs: number
  onError(error: unknown): void
}

export type Sources = ReturnType<typeof createSources>

/** The sources of an assistant, as its owner sees them. */
export function createSources(deps: SourcesDeps) {
  const { collections, transaction, workflows } = deps
  const sources = sourceStore(collections)
  const reads = createSourceReads(collections)
  const { find, view } = reads

  async function insert(assistant: Owner, source: SourceRecord): Promise<void> {
    await transaction(async (session) => {
      await takeSourceSlot(collections, { userId: source.user_id, most: deps.settings.sourceMaxDefault }, session)
      await lockAssistant(collections, { assistantId: assistant._id, userId: source.user_id }, session)
      await sources.add(source, session)
    })
    await passOn(deps, source._id, () => sources.removeUnchanged(source))
  }

  return {
    /** `makerId`: a member who makes it. */
    async create(
      assistant: AssistantRecord,
      sourceId: string,
      given: NewSource,
      makerId?: string,
    ): Promise<SourceView> {
      const settings = settingsOf(given)
      await deps.uploads.admit(assistant)
      await deps.outbound.assertReachable(settings.url, ['body', 'url'])
      const source = {
        ...recordOf(assistant, sourceId, settings),
        ...(makerId === undefined ? {} : { created_by: makerId }),
      }
      await insert(assistant, source)
      return view(source)
    },

    /** From an archive, without its pages: an import asks no sites. */
    async restore(assistant: Owner, sourceId: string, given: NewSource, createdAt: Date): Promise<void> {
      const source = recordOf(assistant, sourceId, settingsOf(given))
      await insert(assistant, {
        ...source,
        status: 'failed',
        error: withoutPages,
        created_at: createdAt,
        imported_at: new Date(),
      })
    },

    ...reads,

    /** Crawls it now. One that is being crawled is not begun anew. */
    async refresh(assistant: AssistantRecord, sourceId: string): Promise<SourceView> {
      const source = await find(assistant, sourceId)
      await deps.uploads.admit(assistant)
      await sources.queue(source)
      await passOn(deps, source._id)
      return view(await find(assistant, sourceId))
    },

    /** A repeated request joins the deletion that is under way. */
    async remove(assistant: Owner, sourceId: string): Promise<DeletionResult> {
      const source = await sources.markDeletingOwned(assistant, sourceId)
      if (source !== null) {
        await workflows.start(sourceDeletionContract, deletionOfSource(source))
      } else {
        const receipt = { _id: sourceId, kind: 'source' } as const
        if (!(await receiptStore(collections).isRunning(assistant.user_id, receipt))) throw missing()
      }
      const end = await workflows.result(sourceDeletionContract, { sourceId }, { waitMs: deps.deletionWaitMs })
      if (end.status === 'failed')
        throw new AppError('internal', 'The deletion of the source was interrupted.', { cause: end.cause })
      if (end.status !== 'running') return { status: 'complete', receiptId: sourceId }
      if (source !== null) await openSourceReceipt(collections, source)
      return { status: 'pending', receiptId: sourceId }
    },
  }
}

function recordOf(assistant: Owner, sourceId: string, settings: ReturnType<typeof settingsOf>): SourceRecord {
  const now = new Date()
  return {
    _id: sourceId,
    user_id: assistant.user_id,
    assistant_id: assistant._id,
    ...settings,
    status: 'queued',
    round: 0,
    bytes: 0,
    ignored: 0,
    revision: 1,
    check_at: now,
    created_at: now,
    updated_at: now,
  }
}

const withoutPages = 'It came from an archive, which holds no pages. Have it crawled.'

/**
 * Checks, within the transaction that creates a source, that its owner may have another one, by the setting or by an
 * active plan. Two creations at once both write to the owner's record, so that one is repeated and counts the other.
 */
async function takeSourceSlot(
  collections: Pick<Collections, 'users' | 'sources' | 'purchases'>,
  { userId, most }: { userId: string; most: number },
  session: ClientSession,
): Promise<void> {
  await lockUser(collections, userId, session)
  const [count, plans] = await Promise.all([
    sourceStore(collections).countOwned(userId, session),
    purchaseStore(collections).listAllowed(userId, session),
  ])
  const max = largestOf(
    plans.map(({ source_max: allowed }) => allowed ?? 0),
    most,
  )
  if (count >= max)
    throw new AppError('forbidden', `This account has ${count} sources of the web, which is as many as it may have.`)
}

interface NewSource {
  type: SourceType
  url: string
  max_depth?: number
  max_pages?: number
  include?: string[]
  exclude?: string[]
  refresh?: SourceRefresh
}

const defaultDepth = 5
const defaultPages = 500

/** What a request asks for, complete. Throws `invalid_input` and names the member. */
function settingsOf(
  given: NewSource,
): Pick<SourceRecord, 'type' | 'url' | 'max_depth' | 'max_pages' | 'include' | 'exclude' | 'refresh'> {
  const url = canonicalAddress(given.url.trim())
  if (url === undefined)
    throw invalidInput(['body', 'url'], 'must be an http or https URL without user name and password')
  for (const member of ['include', 'exclude'] as const) requireSimple(given[member] ?? [], member)
  return {
    type: given.type,
    url,
    max_depth: given.type === 'page' ? 0 : (given.max_depth ?? defaultDepth),
    max_pages: given.type === 'page' ? 1 : (given.max_pages ?? defaultPages),
    include: given.include ?? [],
    exclude: given.exclude ?? [],
    ...(given.refresh === undefined ? {} : { refresh: refreshOf(given.refresh) }),
  }
}

function requireSimple(globs: string[], member: string): void {
  for (const [index, glob] of globs.entries()) {
    const problem = problemOfGlob(glob)
    if (problem !== undefined) throw invalidInput(['body', member, index], problem)
  }
}

function refreshOf({ cron, timezone, interval_seconds: seconds }: SourceRefresh): SourceRefresh {
  const at = (member: string) => ['body', 'refresh', member]
  if (cron !== undefined && seconds !== undefined)
    throw invalidInput(at('interval_seconds'), 'cannot be given beside cron')
  if (seconds !== undefined) {
    if (seconds < sourceLimits.interval_seconds.minimum)
      throw invalidInput(at('interval_seconds'), `must be at least ${sourceLimits.interval_seconds.minimum}`)
    return { interval_seconds: seconds }
  }
  if (cron === undefined) throw invalidInput(at('cron'), 'is required, or interval_seconds', 'missing')
  const problem = problemOfCron(cron)
  if (problem !== undefined) throw invalidInput(at('cron'), problem)
  if (timezone !== undefined && !isTimezone(timezone))
    throw invalidInput(at('timezone'), 'is not the name of a time zone')
  return { cron, timezone: timezone ?? 'UTC' }
}
