import { threadContract } from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type Message, messagesToJson } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import {
  type MultitaskStrategy,
  type RunError,
  type RunOverrides,
  type RunRecord,
  openRunStatuses,
} from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { WorkflowClient } from '../../infra/temporal/workflow-client.ts'
import type { Collections } from '../collections.ts'
import type { ModelAccount } from '../engine/chat-model.ts'
import type { Attempts } from '../engine/attempts.ts'
import type { ModelSteps } from '../engine/model-steps.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { parentsRemain, remainingThread } from '../parents.ts'
import type { Conversations } from '../threads/conversations.ts'
import { requireRoom } from '../threads/room.ts'
import type { Tracing } from '../tracing.ts'
import type { RunInTransaction } from '../transactions.ts'
import { cancelledError, endRun } from './end-run.ts'
import type { BudgetCounting } from '../budgets/counting.ts'
import { type FirstAttempts, firstFence } from './first-attempts.ts'
import type { EnqueueRun, Enqueued } from './enqueue-run.ts'
import type { RunStream } from './run-stream.ts'

export interface NewRun {
  thread: ThreadRecord
  /** The thread is stored together with the run. Only for public threads, which have no quota. */
  withThread?: boolean
  assistant: AssistantRecord
  input: Message[]
  overrides?: RunOverrides
  strategy: MultitaskStrategy
  public?: boolean
  /** Metadata that a caller of the compat family stores with the run, as JSON text. */
  metadataJson?: string
}

interface RunsDeps {
  collections: Pick<Collections, 'projects' | 'assistants' | 'runs' | 'threads' | 'toolCalls'>
  transaction: RunInTransaction
  firstAttempts: Pick<FirstAttempts, 'offer' | 'withdraw'>
  modelSteps: Pick<ModelSteps, 'beginFirst' | 'acceptFirst' | 'confirmFirst' | 'dropFirst'>
  attempts: Pick<Attempts, 'isBusy'>
  conversations: Pick<Conversations, 'isAtHand'>
  enqueueRun: EnqueueRun
  budgetCounting: Pick<BudgetCounting, 'admit' | 'giveBack'>
  workflows: Pick<WorkflowClient, 'signal'>
  stream: RunStream
  tracing: Pick<Tracing, 'ended' | 'currentTraceparent'>
  accountOf(assistant: AssistantRecord): ModelAccount | undefined
  onError(error: unknown): void
  clock?(): number
}

/** Temporal is expected to take a run at once if it did so within this time. */
const recentStartMs = 10_000

/**
 * A run is passed to its thread within seconds after it was stored; after this time, that attempt is considered
 * lost.
 */
const firstCheckAfterMs = 15_000

export type Runs = ReturnType<typeof createRuns>

/** Operations on runs: start, read, list, cancel. Callers check access before. */
export function createRuns(deps: RunsDeps) {
  const { runs } = deps.collections
  const clock = deps.clock ?? (() => performance.now())
  /** When Temporal last gave a workflow that was started here to this process; undefined if the last start was not. */
  let lastEagerStart: number | undefined

  /** Throws `unavailable` if no model is configured for the assistant. */
  function requireModel(assistant: AssistantRecord): void {
    if (deps.accountOf(assistant) === undefined) {
      throw new AppError('unavailable', 'The agent is not initialized: no model is configured.')
    }
  }

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
      await deps.collections.threads.create([thread], { session })
      await runs.insertMany([run], { session, lean: true })
    })
  }

  /**
   * Whether the model can be asked before the run is stored and Temporal has taken it, because nothing indicates that
   * the thread is busy. If the thread is busy after all, the answer is dropped: so a run that would then be refused does
   * not ask early.
   */
  function mayBeginEarly(thread: ThreadRecord, strategy: MultitaskStrategy): boolean {
    return (
      lastEagerStart !== undefined &&
      strategy !== 'reject' &&
      deps.conversations.isAtHand(thread) &&
      !deps.attempts.isBusy(thread._id)
    )
  }

  /**
   * What has become of the parents of a new run since they were read. Look after the thread's workflow was told: a
   * deletion that begins later finds the workflow and waits for it.
   */
  async function parentsOf(run: RunRecord, thread: ThreadRecord, isNew: boolean): Promise<'same' | 'changed' | 'gone'> {
    if (isNew) return (await parentsRemain(deps.collections, run)) ? 'same' : 'gone'
    const now = await remainingThread(deps.collections, thread._id)
    if (now === null) return 'gone'
    return now.last_seq === thread.last_seq ? 'same' : 'changed'
  }

  /** Removes a run whose thread was being deleted when it was stored. */
  async function takeBack(run: RunRecord): Promise<void> {
    await endRun(deps, run._id, cancelledError)
    await tellThread(run)
    await runs.deleteOne({ _id: run._id })
    await deps.budgetCounting.giveBack(run)
    await deps.stream.remove([run._id])
  }

  /** The thread cancels them too, but learns of it late while a model answers. */
  async function endEarlier(run: RunRecord): Promise<void> {
    const earlier = { thread_id: run.thread_id, _id: { $lt: run._id }, status: { $in: [...openRunStatuses] } }
    for (const { _id } of await runs.find(earlier, { _id: 1 }).lean()) await endRun(deps, _id, cancelledError)
  }

  function tellThread(cancelled: RunRecord): Promise<boolean> {
    return deps.workflows.signal(threadContract, { threadId: cancelled.thread_id }, 'cancelRun', {
      runId: cancelled._id,
    })
  }

  /**
   * Looks after the parents of a run that Temporal has taken. If they are gone, the run is taken back. Throws
   * `not_found` then.
   */
  async function confirm(run: RunRecord, thread: ThreadRecord, isNew: boolean): Promise<void> {
    const parents = await parentsOf(run, thread, isNew).catch((error: unknown) => {
      // The run is accepted and continues even if this is not known.
      deps.onError(error)
      return 'changed' as const
    })
    // A step that has not seen all of its thread is executed anew.
    if (parents === 'same') deps.modelSteps.confirmFirst(run._id)
    else deps.modelSteps.dropFirst(run._id)
    if (parents !== 'gone') return
    await takeBack(run)
    if (isNew) await deps.collections.threads.deleteOne({ _id: thread._id })
    throw new AppError('not_found', isNew ? 'There is no such assistant.' : 'There is no such thread.')
  }

  /** This process does not execute the first step, unless the workflow asks for it. */
  function withdraw({ _id }: RunRecord): void {
    deps.firstAttempts.withdraw(_id)
    deps.modelSteps.dropFirst(_id)
  }

  /**
   * Passes a stored run to its thread. Throws `conflict` if the thread refuses it, and `unavailable` if Temporal does
   * not take it: then it is ended, unless its caller has been told that it was accepted (`isAccepted`). The sweep of
   * open runs passes such a run on later.
   */
  async function pass(
    run: RunRecord,
    {
      strategy,
      taskTimeoutMs,
      isAccepted,
    }: { strategy: MultitaskStrategy; taskTimeoutMs: number; isAccepted: boolean },
  ): Promise<Enqueued> {
    const onBusy = () => deps.modelSteps.dropFirst(run._id)
    const passing = deps.enqueueRun(run, strategy, { taskTimeoutMs, onBusy })
    const enqueued = await passing.catch(async (cause: unknown) => {
      lastEagerStart = undefined
      withdraw(run)
      if (!isAccepted && (await endRun(deps, run._id, notStarted)) !== null) await deps.budgetCounting.giveBack(run)
      throw new AppError('unavailable', 'The run could not be started. Try again.', { cause })
    })
    if (enqueued === 'eager') {
      lastEagerStart = clock()
      deps.modelSteps.beginFirst(run._id, taskTimeoutMs)
      deps.modelSteps.acceptFirst(run._id)
      return enqueued
    }
    if (enqueued === 'started') lastEagerStart = undefined
    withdraw(run)
    if (enqueued === 'refused') {
      await runs.deleteOne({ _id: run._id })
      await deps.budgetCounting.giveBack(run)
      throw new AppError('conflict', 'Another run is under way on this thread.')
    }
    if (strategy === 'interrupt') await endEarlier(run)
    return enqueued
  }

  /**
   * What `start` and `startFollowed` have in common. `passed` is the passing of the run to its thread, `confirmed` the
   * look after its parents that follows. With `mayAccept`, a run that is expected to be taken at once is accepted
   * (`isAccepted`) when it is stored.
   */
  async function begin(
    { thread, withThread = false, assistant, input, overrides = {}, strategy, ...rest }: NewRun,
    { runId, mayAccept }: { runId: string; mayAccept: boolean },
  ): Promise<{ run: RunRecord; isAccepted: boolean; passed: Promise<Enqueued>; confirmed: Promise<void> }> {
    requireModel(assistant)
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
      ...(budgets.length > 0 ? { budgets } : {}),
      fence: firstFence,
      created_at: now,
      check_at: new Date(now.getTime() + firstCheckAfterMs),
      ...(traceparent === undefined ? {} : { traceparent }),
    }
    const taskTimeoutMs = deps.firstAttempts.offer({ run, assistant, thread })
    const isEarly = mayBeginEarly(thread, strategy)
    if (isEarly) deps.modelSteps.beginFirst(run._id, taskTimeoutMs)
    try {
      await store(run, withThread ? thread : undefined)
    } catch (error) {
      withdraw(run)
      await deps.budgetCounting.giveBack(run).catch(deps.onError)
      throw error
    }
    const isAccepted = mayAccept && isEarly && clock() - (lastEagerStart ?? -Infinity) < recentStartMs
    if (isAccepted) deps.modelSteps.acceptFirst(run._id)
    const passed = pass(run, { strategy, taskTimeoutMs, isAccepted })
    const confirmed = passed.then(() => confirm(run, thread, withThread))
    for (const promise of [passed, confirmed]) promise.catch(() => undefined)
    return { run, isAccepted, passed, confirmed }
  }

  return {
    /**
     * Stores the run and passes it to its thread. Throws `unavailable` without a model, `conflict` with the
     * strategy `reject` on a busy thread, `invalid_input` if the thread is full, `not_found` if it is being
     * deleted.
     */
    async start(newRun: NewRun, runId: string = newId()): Promise<RunRecord> {
      const { run, confirmed } = await begin(newRun, { runId, mayAccept: false })
      await confirmed
      return run
    },

    /**
     * As `start` for a caller that follows the run, and so sees the run's end if a deletion of its thread has begun at
     * the same time: if this process executes the run, its words are not held back until that is known. On an idle
     * thread they are not held back until Temporal has taken the run either, if it has taken another a moment ago; if
     * it does not take this one, the run waits for the sweep of open runs.
     */
    async startFollowed(newRun: NewRun, runId: string): Promise<RunRecord> {
      const { run, isAccepted, passed, confirmed } = await begin(newRun, { runId, mayAccept: true })
      if (!isAccepted && (await passed) !== 'eager') await confirmed
      confirmed.catch((error: unknown) => {
        if (!(error instanceof AppError && error.code === 'not_found')) deps.onError(error)
      })
      return run
    },

    /** A run on the user's own threads; another user's is `not_found`. */
    async get(userId: string, runId: string): Promise<RunRecord> {
      const run = await runs.findOne({ _id: runId, user_id: userId }).lean<RunRecord>()
      if (run === null) throw new AppError('not_found', 'There is no such run.')
      return run
    },

    /** The runs of a thread, newest first, as many as fit into one answer. */
    list: (threadId: string, range: PageRange): Promise<Page<ListedRun>> =>
      readPage(runs.find({ thread_id: threadId }, withoutInput).sort({ _id: -1 }).lean<ListedRun>(), range, runBytes),

    /** Ends an open run at once and tells its thread. A run that has ended is not changed. */
    async cancel(run: RunRecord): Promise<RunRecord> {
      const cancelled = await endRun(deps, run._id, cancelledError)
      await tellThread(run)
      return cancelled ?? (await runs.findById(run._id).lean<RunRecord>()) ?? run
    },
  }
}

const notStarted: RunError = {
  status_code: 503,
  message: 'The run could not be started.',
  type: 'unavailable',
  details: '',
}

/** Lists do not contain inputs, because each may have megabytes. */
export const withoutInput = { input_json: 0 } as const
export type ListedRun = Omit<RunRecord, 'input_json'>

export function runBytes(run: ListedRun): number {
  return Buffer.byteLength(JSON.stringify(run))
}
