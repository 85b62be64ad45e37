// Before a change: docs/traps.md, Temporal.
import { AppError, isNotFound } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { messagesToJson } from '../../domain/messages.ts'
import { type RunRecord, isOpenRun, isUntouched } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { type NewAttachment, removeAttachments, storeAttachments } from '../attachments/receive-content.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { lockThread, parentsOfRun, parentsRemain } from '../parents.ts'
import { attachmentStore } from '../stores/attachments.ts'
import { runStore } from '../stores/runs.ts'
import { threadStore } from '../stores/threads.ts'
import { countsInQuota, insertThread, releaseQuota } from '../threads/create-thread.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { type AdmitRunDeps, admitRun } from './admit-run.ts'
import { cancelRun, cancelledError, endRun } from './end-run.ts'
import { type HandOverDeps, createHandOver } from './hand-over.ts'
import type { LiveRun, LiveRuns } from './live-runs.ts'
import type { NewRun } from './prepare-run.ts'
import type { RunFeed, RunFeeds } from './run-feeds.ts'
import type { RunStream } from './run-stream.ts'
import type { Steps } from './steps.ts'
import { startedRunStore } from './store.ts'

/** A run that has just started, and its feed. The receiver must close the feed. */
export interface FollowedRun {
  run: RunRecord
  feed: RunFeed
}

export interface StartRunDeps extends HandOverDeps, AdmitRunDeps {
  collections: Pick<Collections, 'users' | 'projects' | 'assistants' | 'runs' | 'threads' | 'attachments' | 'folders'>
  transaction: RunInTransaction
  liveRuns: Pick<LiveRuns, 'offer'>
  steps: Pick<Steps, 'begin'>
  budgetCounting: HandOverDeps['budgetCounting'] & AdmitRunDeps['budgetCounting']
  workflows: Pick<WorkflowClient, 'startNew' | 'state' | 'signalWithStart' | 'updateWithStart' | 'signal'>
  stream: RunStream
  tracing: HandOverDeps['tracing'] & AdmitRunDeps['tracing']
}

type Reserved = Pick<NewRun, 'assistant' | 'overrides' | 'input' | 'public' | 'userId'>

/**
 * Starts a run: stores it, passes it to its thread's workflow, and checks afterwards that its parents still exist and
 * that nothing was added to its thread since it was read. Throws what `admitRun` throws, `unavailable` if Temporal does
 * not take the run, and `conflict` with the strategy `reject` on a busy thread.
 */
export function createStartRun(deps: StartRunDeps, feeds: Pick<RunFeeds, 'open'>) {
  const handOver = createHandOver(deps)

  /** `confirmed`: the check of the run's parents, which goes on. */
  async function start(
    newRun: NewRun,
    runId: string,
  ): Promise<{ run: RunRecord; isHere: boolean; confirmed: Promise<void> }> {
    const { thread, withThread: isNew = false, assistant, strategy, attachments = [] } = newRun
    const run = await admitRun(deps, newRun, runId)
    const takeNeedsBack = await makeNeeds(deps, newRun, run)
    const { live, taskTimeoutMs } = deps.liveRuns.offer(run, { assistant, thread })
    try {
      await store(deps, run, { newThread: isNew ? thread : undefined, attachments })
      const askedAt = performance.now()
      const enqueued = await handOver.pass(run, strategy, taskTimeoutMs)
      const isSlow = performance.now() - askedAt > slowStartMs
      const isHere = enqueued === 'eager' && !(isSlow && (await hasBegunElsewhere(deps, run)))
      if (isHere) deps.steps.begin(live)
      else live.apply('leave')
      const noted = enqueued === 'enqueued' ? noteWaiting(deps, run).catch(deps.onError) : undefined
      const others = [noted, strategy === 'interrupt' ? endEarlier(deps, run).catch(deps.onError) : undefined]
      const confirmed = confirm(deps, { run, thread, isNew, live, others })
      confirmed.catch(() => undefined)
      await noted
      return { run, isHere, confirmed }
    } catch (error) {
      live.apply('supersede')
      await takeRefusedBack(run, attachments, takeNeedsBack).catch(deps.onError)
      throw error
    }
  }

  /** Of a run that was refused, nothing else names what was made for it. One that Temporal did not take is stored. */
  async function takeRefusedBack(run: RunRecord, attachments: NewAttachment[], takeNeedsBack: () => Promise<void>) {
    if (await startedRunStore(deps.collections).exists(run)) return
    await removeAttachments(deps.collections, run, attachments)
    await takeNeedsBack()
  }

  return {
    /** Throws `not_found` if the thread or its assistant is being deleted. */
    async start(newRun: NewRun, runId: string = newId()): Promise<RunRecord> {
      const { run, confirmed } = await start(newRun, runId)
      await confirmed
      return run
    },

    /**
     * Counts runs of one request in the budgets before the first of them starts, so that all are admitted or none. The
     * start of each then finds it counted. Returns what takes back those that were not started.
     */
    async reserve(
      { userId, assistant, overrides = {}, input, public: isPublic = false }: Reserved,
      runIds: string[],
    ): Promise<() => Promise<void>> {
      const { admit, giveBack } = deps.budgetCounting
      const counted: { _id: string; budgets: string[] }[] = []
      const takeBack = async () => {
        for (const each of counted) await giveBack(each).catch(deps.onError)
      }
      const bytes = Buffer.byteLength(messagesToJson(input))
      const question = { assistant, overrides, bytes, ...(userId === undefined ? {} : { userId }) }
      try {
        for (const _id of runIds) counted.push({ _id, budgets: await admit(_id, isPublic, question) })
      } catch (error) {
        await takeBack()
        throw error
      }
      return takeBack
    },

    /**
     * As `start` for a caller that follows the run from its first event, and so sees the run's end if a deletion has begun
     * at the same time: if this process executes the first step, its words are not held back until that is known. The
     * feed subscribes while the run is being prepared; a failed start leaves none open.
     */
    async startFollowed(newRun: NewRun | Promise<NewRun>, runId: string = newId()): Promise<FollowedRun> {
      const threadId = Promise.resolve(newRun).then(({ thread }) => thread._id)
      threadId.catch(() => undefined)
      const opening = feeds.open({ runId, threadId }, { isNew: true })
      try {
        const [prepared, feed] = await Promise.all([newRun, opening])
        const { run, isHere, confirmed } = await start(prepared, runId)
        if (!isHere) await confirmed
        confirmed.catch((error: unknown) => {
          if (!isNotFound(error)) deps.onError(error)
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

/** Long before a worker takes the process of a run for dead (`admitRun`). */
const slowStartMs = 500

/**
 * Whether the run has ended, or another attempt works on it: it may have been cancelled while Temporal was slow, and a
 * worker may have passed it on. The model would be asked for nothing.
 */
async function hasBegunElsewhere({ collections }: StartRunDeps, run: RunRecord): Promise<boolean> {
  const now = await runStore(collections).findInThread(run)
  return now === null || !isOpenRun(now) || !isUntouched(now)
}

/** A run whose needs cannot be made is not counted against its budgets. */
async function makeNeeds(
  deps: StartRunDeps,
  { makeNeeds: make }: NewRun,
  run: RunRecord,
): Promise<() => Promise<void>> {
  try {
    return (await make?.()) ?? (async () => {})
  } catch (error) {
    await deps.budgetCounting.giveBack(run).catch(deps.onError)
    throw error
  }
}

/**
 * A new thread is stored together with its run, in one transaction. Otherwise one journalled write stores the run, and
 * the existence of the thread is checked afterwards. The bytes of the input are stored before: if this process dies in
 * between, they are orphans or go with the thread. A run that is not stored is not counted against its budgets.
 */
async function store(
  deps: StartRunDeps,
  run: RunRecord,
  { newThread, attachments }: { newThread: ThreadRecord | undefined; attachments: NewAttachment[] },
): Promise<void> {
  const started = startedRunStore(deps.collections)
  try {
    await storeAttachments(deps.collections, run, attachments)
    if (newThread === undefined) await started.add(run)
    else
      await deps.transaction(async (session) => {
        if (run.asked_by !== undefined) await lockThread(deps.collections, run.asked_by.thread_id, session)
        await insertThread(deps.collections, newThread, session)
        await started.add(run, session)
      })
  } catch (error) {
    await removeAttachments(deps.collections, run, attachments).catch(deps.onError)
    // Another attempt to start the same run has stored it, and its count stays.
    const isStored = isDuplicateKey(error) && (await started.exists(run))
    if (!isStored) await deps.budgetCounting.giveBack(run).catch(deps.onError)
    throw error
  }
}

/** Notes that Temporal has the run, and that it waits for others on its thread: its first step marks it as running. */
async function noteWaiting({ collections }: StartRunDeps, run: RunRecord): Promise<void> {
  const waiting = { status: 'pending' as const, handed_over: true }
  if (!(await startedRunStore(collections).noteWaiting(run, waiting))) return
  Object.assign(run, waiting)
  delete run.started_at
}

/**
 * Ends the runs before this one on its thread. The thread's workflow cancels them too, but it learns of this run late
 * while a model answers.
 */
async function endEarlier(deps: StartRunDeps, run: RunRecord): Promise<void> {
  for (const each of await startedRunStore(deps.collections).listOpenBefore(run))
    await endRun(deps, each, cancelledError)
}

interface StartedRun {
  run: RunRecord
  /** As it was read before the run was stored. */
  thread: ThreadRecord
  /** The thread was stored together with the run. */
  isNew: boolean
  live: LiveRun
  /** What must have happened before the run may store anything. None of them fails. */
  others: (Promise<void> | undefined)[]
}

/** Lets the run store what it produces, or takes it back if one of its parents is gone, and throws `not_found`. */
async function confirm(deps: StartRunDeps, { run, thread, isNew, live, others }: StartedRun): Promise<void> {
  const checking = checkParents(deps, run, thread, isNew).catch((error: unknown) => {
    // The run is accepted and continues even if this is not known; a step that may not have seen all of its thread
    // is executed anew.
    deps.onError(error)
    return 'changed' as const
  })
  const [parents] = await Promise.all([checking, ...others])
  live.noteParents(parents === 'same' ? 'same' : 'changed')
  if (parents === 'same' || parents === 'changed') return
  await takeBack(deps, run, parents === 'no assistant' && !isNew)
  if (isNew) await removeThread(deps, thread)
  throw new AppError('not_found', `There is no such ${parents === 'no thread' ? 'thread' : 'assistant'}.`)
}

/** With its place, if it counts. */
async function removeThread({ collections, transaction }: StartRunDeps, thread: ThreadRecord): Promise<void> {
  await transaction(async (session) => {
    const isRemoved = await threadStore(collections).remove(thread, session)
    const places = isRemoved && countsInQuota(thread) ? 1 : 0
    await releaseQuota(collections, { userId: thread.user_id, places }, session)
  })
}

/** What has become of the parents of a run since they were read; a suspended assistant counts as gone. */
type Parents = 'same' | 'changed' | 'no thread' | 'no assistant'

/**
 * Checks that the run's parents still exist. Call this only when the thread's workflow has been told: a deletion
 * that begins later finds the workflow and waits for it.
 */
async function checkParents(
  { collections }: StartRunDeps,
  run: RunRecord,
  thread: ThreadRecord,
  isNew: boolean,
): Promise<Parents> {
  if (isNew) return (await parentsRemain(collections, { ...run, public: thread.public })) ? 'same' : 'no assistant'
  const { thread: now, hasAssistant } = await parentsOfRun(collections, run)
  if (now === undefined) return 'no thread'
  if (!hasAssistant) return 'no assistant'
  return now.last_seq === thread.last_seq && now.last_entry_id === thread.last_entry_id ? 'same' : 'changed'
}

/** Ends the run, and removes it if its thread is gone: the deletion of the thread may not find it any more. */
async function takeBack(deps: StartRunDeps, run: RunRecord, hasThread: boolean): Promise<void> {
  const { thread_id: threadId, _id: runId } = run
  await cancelRun(deps, run)
  if (hasThread) return
  await runStore(deps.collections).remove(run)
  await attachmentStore(deps.collections).removeOfThread(threadId)
  await deps.budgetCounting.giveBack(run)
  await deps.stream.remove([runId])
}
