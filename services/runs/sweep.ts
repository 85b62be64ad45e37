import { threadContract } from '../../domain/contracts/thread.ts'
import { type RunError, type RunKey, type RunRecord, isOpenRun, isUntouched, runKey } from '../../domain/records/run.ts'
import type { WorkflowClient, WorkflowState } from '../workflow-client.ts'
import type { Collections } from '../collections.ts'
import type { Decisions } from './decisions.ts'
import { notStartedError, tellCancelled } from './end-run.ts'
import type { HandOver } from './hand-over.ts'

type DueRun = RunKey & { check_at: Date }

export interface RunSweepDeps {
  collections: Pick<Collections, 'runs'>
  handOver: Pick<HandOver, 'enqueue'>
  workflows: Pick<WorkflowClient, 'state' | 'signal'>
  decisions: Pick<Decisions, 'finishAbandoned'>
  /** Ends a run whose workflow is gone, and leaves its thread consistent. */
  settle(run: RunRecord, error: RunError): Promise<unknown>
  onError(error: unknown): void
}

/** Longer than a check takes. If a worker dies during a check, another checks the run after this time. */
const leaseMs = 60_000
const shortestPauseMs = 30_000
const longestPauseMs = 10 * 60_000
const maxPerRound = 500
const dueAtOnce = 200
/** This many failures in a row are caused by a dependency, not by a run. */
const maxFailures = 3

const aborted: RunError = {
  status_code: 500,
  message: 'The workflow of the run was stopped before the run had finished.',
  type: 'aborted',
  details: '',
}

/**
 * Checks runs that have been open for long, so that none is lost when a process dies or a workflow is terminated:
 * it starts runs that their thread was never told of (or ends them, if a newer one has begun), passes on decisions,
 * ends runs whose workflow is gone, and settles those that were ended by a process that died before their thread was told.
 *
 * `check_at` of a run says when it is checked next. It is also a lease: a worker that checks a run first moves it
 * forward, so that only one worker checks a run, and another takes over if that worker dies. Runs that are settled
 * have no `check_at`, so that its index contains few others than open ones.
 */
export function createRunSweep({ collections, handOver, workflows, decisions, settle, onError }: RunSweepDeps) {
  const { runs } = collections

  /** One round; returns how many runs it checked. */
  return async (clock: () => number = Date.now): Promise<number> => {
    let failures = 0
    let count = 0
    while (count < maxPerRound) {
      const due = await readDue(new Date(clock()))
      if (due.length === 0) break
      for (const each of due) {
        const now = clock()
        const run = await take(runs, each, new Date(now + leaseMs))
        // Another worker has come to this place: go on elsewhere.
        if (run === null) break
        count += 1
        try {
          await look(run, now)
          failures = 0
        } catch (error) {
          onError(error)
          failures += 1
          if (failures === maxFailures) return count
        }
      }
    }
    return count
  }

  /**
   * Asks every shard, so it reads many at once; each is then taken on its own shard. Each worker begins somewhere else,
   * so that several hardly try the runs of one another.
   */
  async function readDue(now: Date): Promise<DueRun[]> {
    const due = await runs
      .find({ check_at: { $lt: now } }, { thread_id: 1, check_at: 1 })
      .sort({ check_at: 1 })
      .limit(dueAtOnce)
      .lean<DueRun[]>()
    const first = Math.floor(Math.random() * due.length)
    return [...due.slice(first), ...due.slice(0, first)]
  }

  /**
   * Whether a newer run of the thread began before Temporal had taken this one, whose process died or lost Temporal. Its
   * caller was not told that it was accepted, and runs keep the order of their ids: so it is not executed any more.
   */
  async function wasOvertaken({ _id, thread_id, handed_over: isHandedOver }: RunRecord): Promise<boolean> {
    if (isHandedOver) return false
    return (await runs.exists({ thread_id, _id: { $gt: _id }, started_at: { $exists: true } })) !== null
  }

  async function look(run: RunRecord, now: number): Promise<void> {
    if (!isOpenRun(run)) {
      // A workflow that has the run settles it.
      if (await tellCancelled({ workflows }, run)) await checkAgain(run, now)
      else await settle(run, aborted)
      return
    }
    await decisions.finishAbandoned(run, now)
    const thread = await workflows.state(threadContract, { threadId: run.thread_id })
    const isRunning = thread.status === 'running'
    // A run that is shown as running, and that the workflow does not have, is looked at again when the workflow has ended.
    const mayBeLost = run.status === 'pending' || (!isRunning && run.status === 'running' && isUntouched(run))
    if (mayBeLost && (await wasOvertaken(run))) {
      await settle(run, notStartedError)
      return
    }
    if (mayBeLost && !wasStopped(thread, run)) {
      // A run that waits in a running workflow is sent to it once more, in case the workflow does not have it.
      if (!isRunning || !run.requeued) await handOver.enqueue(run, 'enqueue')
    } else if (!isRunning) {
      await settle(run, aborted)
      return
    }
    await checkAgain(run, now)
  }

  async function checkAgain(run: RunRecord, now: number): Promise<void> {
    const checkAt = new Date(now + pauseMs(now - run.created_at.getTime()))
    await runs.updateOne(
      { ...runKey(run), check_at: { $exists: true } },
      { $set: { check_at: checkAt, ...(run.status === 'pending' ? { requeued: true } : {}) } },
    )
  }
}

type Runs = RunSweepDeps['collections']['runs']

/** Null if another worker has taken the run since it was read, or it is settled. */
function take(runs: Runs, due: DueRun, until: Date): Promise<RunRecord | null> {
  const change = { $set: { check_at: until } }
  return runs
    .findOneAndUpdate({ ...runKey(due), check_at: due.check_at }, change, { returnDocument: 'after' })
    .lean<RunRecord>()
}

/** Whether the thread's workflow was terminated after the run was stored. */
function wasStopped(thread: WorkflowState, run: RunRecord): boolean {
  return thread.status === 'broken_off' && thread.closedAt !== undefined && thread.closedAt > run.created_at
}

/** The longer a run has been open, the less often it is checked. */
function pauseMs(ageMs: number): number {
  return Math.min(Math.max(ageMs / 2, shortestPauseMs), longestPauseMs)
}
