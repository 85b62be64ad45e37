import { threadContract } from '../../domain/contracts/thread.ts'
import { type RunError, type RunRecord, isOpenRun, isUntouched } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { leasedSweep } from '../leased-sweep.ts'
import type { WorkflowClient, WorkflowState } from '../workflow-client.ts'
import { type DecisionDeps, type Decisions, createDecisions } from './decisions.ts'
import { notStartedError, notifyCancelled } from './end-run.ts'
import { finalizeLostRun } from './finalize.ts'
import { type HandOver, type HandOverDeps, createHandOver } from './hand-over.ts'
import type { StepDeps } from './step-deps.ts'
import { type DueRun, sweptRunStore } from './store.ts'

type UpkeepDeps = StepDeps & HandOverDeps & DecisionDeps & Pick<RunSweepDeps, 'workflows'>

/** What a worker of the queue `runs` does beside the steps. */
export function createRunUpkeep(deps: UpkeepDeps) {
  const { liveRuns, conversations, stream } = deps
  return {
    /** One round of the sweep of open runs. */
    sweep: createRunSweep({
      ...deps,
      handOver: createHandOver(deps),
      decisions: createDecisions(deps),
      finalize: (run, error) => finalizeLostRun(deps, run, error),
    }),

    /** Learns which runs were ended or taken over, until the returned function is called. */
    subscribeSuperseded: () => stream.onSuperseded(liveRuns.supersede),

    /** Learns which threads are being deleted, until the returned function is called. */
    subscribeForgotten: () =>
      stream.onForgotten((threadIds) => {
        liveRuns.forgetThreads(threadIds)
        conversations.forget(threadIds)
      }),
  }
}

interface RunSweepDeps {
  collections: Pick<Collections, 'runs'>
  handOver: Pick<HandOver, 'enqueue'>
  workflows: Pick<WorkflowClient, 'state' | 'signal'>
  decisions: Pick<Decisions, 'finishAbandoned'>
  /** Ends a run whose workflow is gone, and leaves its thread consistent. */
  finalize(run: RunRecord, error: RunError): Promise<unknown>
  onError(error: unknown): void
}

/** Longer than a check takes. If a worker dies during a check, another checks the run after this time. */
const leaseMs = 60_000
const shortestPauseMs = 30_000
const longestPauseMs = 10 * 60_000
const maxPerRound = 500
const dueAtOnce = 200

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
export function createRunSweep({ collections, handOver, workflows, decisions, finalize, onError }: RunSweepDeps) {
  const runs = sweptRunStore(collections)

  /** One round; returns how many runs it checked. */
  return async (clock: () => number = Date.now): Promise<number> => {
    let read: DueRun[] = []
    return leasedSweep({
      async due(now) {
        for (;;) {
          if (read.length === 0) read = await readDue(new Date(now))
          const next = read.shift()
          if (next === undefined) return null
          const run = await runs.take(next, new Date(now + leaseMs))
          if (run !== null) return run
          // Another worker has come to this place: go on elsewhere.
          read = []
        }
      },
      work: look,
      onError,
      perRound: maxPerRound,
      clock,
    })
  }

  /**
   * Asks every shard, so it reads many at once; each is then taken on its own shard. Each worker begins somewhere else,
   * so that several hardly try the runs of one another.
   */
  async function readDue(now: Date): Promise<DueRun[]> {
    const due = await runs.listDueOfAny(now, dueAtOnce)
    const first = Math.floor(Math.random() * due.length)
    return [...due.slice(first), ...due.slice(0, first)]
  }

  /**
   * Whether a newer run of the thread began before Temporal had taken this one, whose process died or lost Temporal. Its
   * caller was not told that it was accepted, and runs keep the order of their ids: so it is not executed any more.
   */
  async function wasOvertaken(run: RunRecord): Promise<boolean> {
    return run.handed_over !== true && runs.hasNewerBegun(run)
  }

  async function look(run: RunRecord, now: number): Promise<void> {
    if (!isOpenRun(run)) {
      // A workflow that has the run settles it.
      if (await notifyCancelled({ workflows }, run)) await checkAgain(run, now)
      else await finalize(run, aborted)
      return
    }
    await decisions.finishAbandoned(run, now)
    const thread = await workflows.state(threadContract, { threadId: run.thread_id })
    const isRunning = thread.status === 'running'
    // A run that is shown as running, and that the workflow does not have, is looked at again when the workflow has ended.
    const mayBeLost = run.status === 'pending' || (!isRunning && run.status === 'running' && isUntouched(run))
    if (mayBeLost && (await wasOvertaken(run))) {
      await finalize(run, notStartedError)
      return
    }
    if (mayBeLost && !wasStopped(thread, run)) {
      // A run that waits in a running workflow is sent to it once more, in case the workflow does not have it.
      if (!isRunning || !run.requeued) await handOver.enqueue(run, 'enqueue')
    } else if (!isRunning) {
      await finalize(run, aborted)
      return
    }
    await checkAgain(run, now)
  }

  async function checkAgain(run: RunRecord, now: number): Promise<void> {
    const check_at = new Date(now + pauseMs(now - run.created_at.getTime()))
    await runs.checkAgain(run, { check_at, ...(run.status === 'pending' ? { requeued: true } : {}) })
  }
}

/** Whether the thread's workflow was terminated after the run was stored. */
function wasStopped(thread: WorkflowState, run: RunRecord): boolean {
  return thread.status === 'broken_off' && thread.closedAt !== undefined && thread.closedAt > run.created_at
}

/** The longer a run has been open, the less often it is checked. */
function pauseMs(ageMs: number): number {
  return Math.min(Math.max(ageMs / 2, shortestPauseMs), longestPauseMs)
}
