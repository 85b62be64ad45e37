import { threadBusyType, threadContract } from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import type { MultitaskStrategy, RunRecord } from '../../domain/records/run.ts'
import type { WorkflowClient } from '../../infra/temporal/workflow-client.ts'

interface EnqueueRunDeps {
  workflows: Pick<WorkflowClient, 'signalWithStart' | 'updateWithStart'>
  runMaxMinutes: number
}

export type EnqueueRun = ReturnType<typeof createEnqueueRun>

/**
 * Hands a run to its thread's workflow, which is started if it does not run. False when the strategy is
 * `reject` and another run has the thread. Safe to repeat.
 */
export function createEnqueueRun({ workflows, runMaxMinutes }: EnqueueRunDeps) {
  return async (run: RunRecord, strategy: MultitaskStrategy): Promise<boolean> => {
    const start = {
      threadId: run.thread_id,
      runId: run._id,
      userId: run.user_id,
      assistantId: run.assistant_id,
      projectId: run.project_id,
    }
    const message = { runId: run._id, strategy, maxDurationMs: runMaxMinutes * 60_000 }
    if (strategy !== 'reject') {
      await workflows.signalWithStart(threadContract, start, 'enqueueRun', message)
      return true
    }
    const outcome = await workflows.updateWithStart(threadContract, start, 'tryEnqueueRun', message)
    if (outcome.status === 'answered') return outcome.answer
    if (outcome.status === 'not_running')
      throw new AppError('unavailable', 'The workflow of the thread ended before it had taken the run; try again.')
    if (outcome.type === threadBusyType) return false
    throw outcome.cause
  }
}
