// Before a change: docs/traps.md, Temporal.
import { threadContract } from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type Message, messagesToJson } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type MultitaskStrategy, type RunOverrides, type RunRecord, openRunStatuses } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { BudgetCounting } from '../budgets/counting.ts'
import type { Collections } from '../collections.ts'
import type { ModelAccount } from './chat-model.ts'
import type { LiveRun } from './live-run.ts'
import { type LiveRuns, firstFence } from './live-runs.ts'
import type { Steps } from './steps.ts'
import { parentsOfRun, parentsRemain } from '../parents.ts'
import { requireRoom } from '../threads/room.ts'
import type { Tracing } from '../tracing.ts'
import type { RunInTransaction } from '../transactions.ts'
import { cancelledError, endRun } from './end-run.ts'
import { type HandOverDeps, createHandOver } from './hand-over.ts'
import type { RunFeed, RunFeeds } from './run-feeds.ts'
import type { RunStream } from './run-stream.ts'

export interface NewRun {
  thread: ThreadRecord
  /** The thread is stored together with the run. Only for threads that have no quota. */
  withThread?: boolean
  assistant: AssistantRecord
  input: Message[]
  overrides?: RunOverrides
  strategy: MultitaskStrategy
  public?: boolean
  /** Metadata that a caller of the compat family stores with the run, as JSON text. */
  metadataJson?: string
  /** `ResponseFacts` as JSON text. */
  responseJson?: string
}

/** A run that has just started, and its feed. The receiver must close the feed. */
export interface FollowedRun {
  run: RunRecord
  feed: RunFeed
}

export interface StartRunDeps extends HandOverDeps {
  collections: Pick<Collections, 'projects' | 'assistants' | 'runs' | 'threads'>
  transaction: RunInTransaction
  liveRuns: Pick<LiveRuns, 'offer'>
  steps: Pick<Steps, 'begin'>
  budgetCounting: Pick<BudgetCounting, 'admit' | 'giveBack'>
  workflows: Pick<WorkflowClient, 'startNew' | 'signalWithStart' | 'updateWithStart' | 'signal'>
  stream: RunStream
  tracing: Pick<Tracing, 'ended' | 'currentTraceparent'>
  accountOf(assistant: AssistantRecord): ModelAccount | undefined
  onError(error: unknown): void
}

/**
 * A run is passed to its thread within seconds after it was stored; after this time, that process is considered
 * dead.
 */
const firstCheckAfterMs = 15_000

/**
 * Starts a run: stores it, passes it to its thread's workflow, and checks afterwards that its parents still exist and
 * that nothing was added to its thread since it was read. Throws `unavailable` if no model is configured or Temporal does not take the run,
 * `conflict` with the strategy `reject` on a busy thread, `invalid_input` if the thread is full.
 */
export function createStartRun(deps: StartRunDeps, feeds: Pick<RunFeeds, 'open'>) {
  const { runs, threads } = deps.collections
  const handOver = createHandOver(deps)

  /**
   * With its thread in one transaction, or with one journalled write; then the existence of the thread is checked
   * afterwards.
   */
  async function store(run: RunRecord, thread: ThreadRecord | undefined): Promise<void> {
    if (thread === undefined) {
      await runs.insertMany([run], { lean: true })
      return
    }
    await deps.transaction(async (session) => {
      await threads.create([thread], { session })
      await runs.insertMany([run], { session, lean: true })
    })
  }

  /**
   * Notes that Temporal has the run. From then on it is shown as running, unless it waits for others on its thread: then
   * its first step marks it.
   */
  async function noteTaken(run: RunRecord, waits: boolean): Promise<void> {
    const change = waits ? { handed_over: true } : { status: 'running' as const, started_at: new Date() }
    const options = { writeConcern: { w: 1, journal: false } }
    const { modifiedCount } = await runs.updateOne({ _id: run._id, status: 'pending' }, { $set: change }, options)
    if (modifiedCount > 0) Object.assign(run, change)
  }

  /** The thread's workflow cancels them too, but it learns of this run late while a model answers. */
  async function endEarlier(run: RunRecord): Promise<void> {
    const earlier = { thread_id: run.thread_id, _id: { $lt: run._id }, status: { $in: [...openRunStatuses] } }
    for (const { _id } of await runs.find(earlier, { _id: 1 }).lean()) await endRun(deps, _id, cancelledError)
  }

  /**
   * Checks that the run's parents still exist. Call this only when the thread's workflow has been told: a deletion
   * that begins later finds the workflow and waits for it.
   */
  async function checkParents(run: RunRecord, thread: ThreadRecord, isNew: boolean): Promise<Parents> {
    if (isNew) return (await parentsRemain(deps.collections, run)) ? 'same' : 'no assistant'
    const { thread: now, hasAssistant } = await parentsOfRun(deps.collections, run)
    if (now === undefined) return 'no thread'
    if (!hasAssistant) return 'no assistant'
    return now.last_seq === thread.last_seq && now.last_entry_id === thread.last_entry_id ? 'same' : 'changed'
  }

  /** Lets the run store what it produces, or takes it back if one of its parents is gone, and throws `not_found`. */
  async function confirm(
    { run, live, others }: { run: RunRecord; live: LiveRun; others: Promise<void>[] },
    thread: ThreadRecord,
    isNew: boolean,
  ): Promise<void> {
    const checking = checkParents(run, thread, isNew).catch((error: unknown) => {
      // The run is accepted and continues even if this is not known; a step that may not have seen all of its thread
      // is executed anew.
      deps.onError(error)
      return 'changed' as const
    })
    const [parents] = await Promise.all([checking, ...others])
    live.noteParents(parents === 'same' ? 'same' : 'changed')
    if (parents === 'same' || parents === 'changed') return
    await takeBack(run, parents === 'no assistant' && !isNew)
    if (isNew) await threads.deleteOne({ _id: thread._id })
    throw new AppError('not_found', `There is no such ${parents === 'no thread' ? 'thread' : 'assistant'}.`)
  }

  /** Ends the run, and removes it if its thread is gone: the deletion of the thread may not find it any more. */
  async function takeBack(run: RunRecord, hasThread: boolean): Promise<void> {
    await endRun(deps, run._id, cancelledError)
    const { thread_id: threadId, _id: runId } = run
    await deps.workflows.signal(threadContract, { threadId }, 'cancelRun', { runId })
    if (hasThread) return
    await runs.deleteOne({ _id: runId })
    await deps.budgetCounting.giveBack(run)
    await deps.stream.remove([runId])
  }

  /** `confirmed`: the check of the run's parents, which goes on. */
  async function start(
    { thread, withThread = false, assistant, input, overrides = {}, strategy, ...rest }: NewRun,
    runId: string,
  ): Promise<{ run: RunRecord; isHere: boolean; confirmed: Promise<void> }> {
    if (deps.accountOf(assistant) === undefined)
      throw new AppError('unavailable', 'The agent is not initialized: no model is configured.')
    const inputJson = messagesToJson(input)
    requireRoom(thread, Buffer.byteLength(inputJson))
    const bytes = (thread.log_bytes ?? 0) + Buffer.byteLength(inputJson)
    const budgets = await deps.budgetCounting.admit(runId, rest.public ?? false, { assistant, overrides, bytes })
    const now = new Date()
    const traceparent = deps.tracing.currentTraceparent()
    const run: RunRecord = {
      _id: runId,
      thread_id: thread._id,
      user_id: thread.user_id,
      project_id: thread.project_id,
      assistant_id: assistant._id,
      public: rest.public ?? false,
      status: 'pending',
      input_json: inputJson,
      overrides,
      ...(rest.metadataJson === undefined ? {} : { metadata_json: rest.metadataJson }),
      ...(rest.responseJson === undefined ? {} : { response_json: rest.responseJson }),
      ...(budgets.length > 0 ? { budgets } : {}),
      fence: firstFence,
      created_at: now,
      check_at: new Date(now.getTime() + firstCheckAfterMs),
      ...(traceparent === undefined ? {} : { traceparent }),
    }
    const { live, taskTimeoutMs } = deps.liveRuns.offer(run, { assistant, thread })
    try {
      await store(run, withThread ? thread : undefined).catch(async (error: unknown) => {
        await deps.budgetCounting.giveBack(run).catch(deps.onError)
        throw error
      })
      const enqueued = await handOver.pass(run, strategy, taskTimeoutMs)
      if (enqueued === 'eager') deps.steps.begin(live)
      else live.apply('leave')
      const noted = noteTaken(run, enqueued === 'enqueued').catch(deps.onError)
      const others = [noted, ...(strategy === 'interrupt' ? [endEarlier(run).catch(deps.onError)] : [])]
      const confirmed = confirm({ run, live, others }, thread, withThread)
      confirmed.catch(() => undefined)
      await noted
      return { run, isHere: enqueued === 'eager', confirmed }
    } catch (error) {
      live.apply('withdraw')
      throw error
    }
  }

  return {
    /** Throws `not_found` if the thread or its assistant is being deleted. */
    async start(newRun: NewRun, runId: string = newId()): Promise<RunRecord> {
      const { run, confirmed } = await start(newRun, runId)
      await confirmed
      return run
    },

    /**
     * As `start` for a caller that follows the run from its first event, and so sees the run's end if a deletion has begun
     * at the same time: if this process executes the first step, its words are not held back until that is known. The
     * feed subscribes while the run is being prepared; a failed start leaves none open.
     */
    async startFollowed(newRun: NewRun | Promise<NewRun>, runId: string = newId()): Promise<FollowedRun> {
      const opening = feeds.open(runId, { isNew: true })
      try {
        const [prepared, feed] = await Promise.all([newRun, opening])
        const { run, isHere, confirmed } = await start(prepared, runId)
        if (!isHere) await confirmed
        confirmed.catch((error: unknown) => {
          if (!(error instanceof AppError && error.code === 'not_found')) deps.onError(error)
        })
        return { run, feed }
      } catch (error) {
        // The preparation may fail while the feed is being opened.
        opening.then(
          (feed) => feed.close(),
          () => undefined,
        )
        throw error
      }
    },
  }
}

/** What has become of the parents of a run since they were read; a suspended assistant counts as gone. */
type Parents = 'same' | 'changed' | 'no thread' | 'no assistant'
