// Before a change: docs/traps.md, Temporal.
import { setTimeout as sleep } from 'node:timers/promises'
import { threadBusyType, threadContract } from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import type { MultitaskStrategy, RunRecord } from '../../domain/records/run.ts'
import type { BudgetCounting } from '../budgets/counting.ts'
import { runStore } from '../stores/runs.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { type EndRunDeps, endRun, notStartedError } from './end-run.ts'
import { startedRunStore } from './store.ts'

export interface HandOverDeps extends EndRunDeps {
  workflows: Pick<WorkflowClient, 'startNew' | 'signalWithStart' | 'state' | 'updateWithStart'>
  budgetCounting: Pick<BudgetCounting, 'giveBack'>
  settings: { runMaxMinutes: number }
}

/**
 * `eager`: a workflow was started, and this process executes the first step. `started`: a worker will. `enqueued`: a
 * workflow that runs has the run. `refused`: the strategy is `reject` and another run is open.
 */
type Enqueued = 'eager' | 'started' | 'enqueued' | 'refused'

/**
 * How long a start waits for the end of a workflow that has no run left. It takes some ten milliseconds, and a few
 * hundred in a process that is busy.
 */
const closingWaitsMs = [10, 20, 40, 80, 160, 320]
const closingTriesMax = 5

export type HandOver = ReturnType<typeof createHandOver>

/** Passes runs to the workflows of their threads. */
export function createHandOver(deps: HandOverDeps) {
  const { workflows } = deps
  const ofThreads = startedRunStore(deps.collections)

  async function enqueue(run: RunRecord, strategy: MultitaskStrategy, taskTimeoutMs?: number): Promise<Enqueued> {
    const start = {
      threadId: run.thread_id,
      runId: run._id,
      userId: run.user_id,
      assistantId: run.assistant_id,
      projectId: run.project_id,
    }
    const message = {
      runId: run._id,
      strategy,
      maxDurationMs: maxDurationMsOf(run, deps.settings),
      ...(run.asked_by === undefined
        ? {}
        : { askedBy: { threadId: run.asked_by.thread_id, runId: run.asked_by.run_id } }),
    }
    const startNew = () => workflows.startNew(threadContract, { ...start, run: message }, { taskTimeoutMs })

    /**
     * A caller may send its next run in the moment in which the run before has ended, but not its workflow. A signal
     * would make Temporal refuse the workflow's end, and the last step would be executed once more before this run.
     */
    async function startAfterClosing(): ReturnType<typeof startNew> {
      for (const ms of closingWaitsMs) {
        if (await ofThreads.hasOpen(run.thread_id, { $ne: run._id })) break
        await sleep(ms)
        const started = await startNew()
        if (started !== 'already_running') return started
      }
      return 'already_running'
    }

    async function executesAnother(): Promise<boolean> {
      const state = await workflows.state(threadContract, { threadId: run.thread_id })
      if (state.status !== 'running' || state.runId === undefined || state.runId === run._id) return false
      return ofThreads.hasOpen(run.thread_id, state.runId)
    }

    // Most threads are idle.
    let started = await startNew()
    if (started === 'already_running') started = await startAfterClosing()
    if (started !== 'already_running') return started
    if (strategy !== 'reject') {
      await workflows.signalWithStart(threadContract, start, 'enqueueRun', message)
      return 'enqueued'
    }
    // While a model answers, a thread's workflow answers updates late. It is asked only if neither the records decide,
    // nor the run that it is known to execute: one that was stored after this one may have come to it before.
    if (await ofThreads.hasOpen(run.thread_id, { $lt: run._id })) return 'refused'
    if (await executesAnother()) return 'refused'
    for (let tries = 1; ; tries++) {
      const outcome = await workflows.updateWithStart(threadContract, start, 'tryEnqueueRun', message)
      if (outcome.status === 'answered') return 'enqueued'
      // It ended in this moment: the next attempt starts another one.
      if (outcome.status === 'not_running' && tries < closingTriesMax) continue
      if (outcome.status === 'not_running')
        throw new AppError('unavailable', 'The workflow of the thread ended before it had taken the run; try again.')
      if (outcome.type === threadBusyType) return 'refused'
      throw outcome.cause
    }
  }

  /**
   * Ends a run of which Temporal did not say that it has it, and throws. If only Temporal's answer was lost and a worker
   * has begun the run, the run goes on: its caller would repeat what its tools have done.
   */
  async function endNotStarted(run: RunRecord, cause: unknown): Promise<'started'> {
    const ended = await endRun(deps, run, notStartedError, { only: 'unbegun', isFinalized: true })
    if (ended === null && (await ofThreads.exists(run))) return 'started'
    await deps.budgetCounting.giveBack(run)
    throw new AppError('unavailable', 'The run could not be started. Try again.', { cause, retryAfterSeconds: 5 })
  }

  return {
    /**
     * Passes a run to its thread's workflow, which is started if it does not run; `taskTimeoutMs` is the timeout of a new
     * workflow's tasks, by default the configured one. Temporal's client tries again while the server is away, until the
     * end of the call. Safe to repeat.
     */
    enqueue,

    /**
     * As `enqueue`, for a run that was stored a moment ago. If Temporal does not take it, the run is ended, so that no
     * later run of the thread is answered before it: throws `unavailable`. Throws `conflict` if it is refused.
     */
    async pass(
      run: RunRecord,
      strategy: MultitaskStrategy,
      taskTimeoutMs: number,
    ): Promise<Exclude<Enqueued, 'refused'>> {
      const enqueued = await enqueue(run, strategy, taskTimeoutMs).catch((cause: unknown) => endNotStarted(run, cause))
      if (enqueued !== 'refused') return enqueued
      await runStore(deps.collections).remove(run)
      await deps.budgetCounting.giveBack(run)
      throw new AppError('conflict', 'Another run is under way on this thread.')
    },
  }
}

/** A run that answers another one has no more time than that. */
function maxDurationMsOf({ asked_by: askedBy }: RunRecord, { runMaxMinutes }: HandOverDeps['settings']): number {
  const limitMs = runMaxMinutes * 60_000
  const left = askedBy?.deadline_at === undefined ? limitMs : askedBy.deadline_at.getTime() - Date.now()
  return Math.max(1000, Math.min(limitMs, left))
}
