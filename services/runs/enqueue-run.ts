// Before a change: docs/traps.md, Temporal.
import { setTimeout as sleep } from 'node:timers/promises'
import { threadBusyType, threadContract } from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import { type MultitaskStrategy, type RunRecord, openRunStatuses } from '../../domain/records/run.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { Collections } from '../collections.ts'

interface EnqueueRunDeps {
  collections: Pick<Collections, 'runs'>
  workflows: Pick<WorkflowClient, 'startNew' | 'signalWithStart' | 'updateWithStart'>
  runMaxMinutes: number
}

export type EnqueueRun = ReturnType<typeof createEnqueueRun>

/**
 * `eager`: a workflow was started, and this process executes the first step. `started`: a worker will. `enqueued`: a
 * workflow that runs has the run. `refused`: the strategy is `reject` and another run is open.
 */
export type Enqueued = 'eager' | 'started' | 'enqueued' | 'refused'

interface EnqueueOptions {
  /** Timeout of a new workflow's tasks; default: the configured one. */
  taskTimeoutMs?: number
}

/**
 * How long a start waits for the end of a workflow that has no run left. It takes some ten milliseconds, and a few
 * hundred in a process that is busy.
 */
const closingWaitsMs = [10, 20, 40, 80, 160, 320]

/** Passes a run to its thread's workflow, which is started if it does not run. Safe to repeat. */
export function createEnqueueRun({ collections: { runs }, workflows, runMaxMinutes }: EnqueueRunDeps) {
  return async (
    run: RunRecord,
    strategy: MultitaskStrategy,
    { taskTimeoutMs }: EnqueueOptions = {},
  ): Promise<Enqueued> => {
    const start = {
      threadId: run.thread_id,
      runId: run._id,
      userId: run.user_id,
      assistantId: run.assistant_id,
      projectId: run.project_id,
    }
    const message = { runId: run._id, strategy, maxDurationMs: runMaxMinutes * 60_000 }
    const startNew = () => workflows.startNew(threadContract, { ...start, run: message }, { taskTimeoutMs })
    const others = { thread_id: run.thread_id, status: { $in: [...openRunStatuses] } }

    /**
     * A caller may send its next run in the moment in which the run before has ended, but not its workflow. A signal
     * would make Temporal refuse the workflow's end, and the last step would be executed once more before this run.
     */
    async function startAfterClosing(): ReturnType<typeof startNew> {
      for (const ms of closingWaitsMs) {
        if (await runs.exists({ ...others, _id: { $ne: run._id } })) break
        await sleep(ms)
        const started = await startNew()
        if (started !== 'already_running') return started
      }
      return 'already_running'
    }

    // Most threads are idle.
    let started = await startNew()
    if (started === 'already_running') started = await startAfterClosing()
    if (started !== 'already_running') return started
    if (strategy !== 'reject') {
      await workflows.signalWithStart(threadContract, start, 'enqueueRun', message)
      return 'enqueued'
    }
    // While a model answers, a thread's workflow answers updates late. It is asked only if the records do not
    // decide.
    if (await runs.exists({ ...others, _id: { $lt: run._id } })) return 'refused'
    const outcome = await workflows.updateWithStart(threadContract, start, 'tryEnqueueRun', message)
    if (outcome.status === 'answered') return outcome.answer ? 'enqueued' : 'refused'
    if (outcome.status === 'not_running')
      throw new AppError('unavailable', 'The workflow of the thread ended before it had taken the run; try again.')
    if (outcome.type === threadBusyType) return 'refused'
    throw outcome.cause
  }
}
