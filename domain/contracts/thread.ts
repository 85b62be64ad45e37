import type { MultitaskStrategy } from '../records/run.ts'

/** Messages of the `thread` workflow, the actor of one conversation. Ids and small facts only. */
export const threadWorkflowType = 'threadWorkflow'

export function threadWorkflowId(threadId: string): string {
  return `thread/${threadId}`
}

export interface ThreadWorkflowInput {
  threadId: string
}

/** Signal: a run wants its turn. Repeating it for the same run is harmless. */
export const enqueueRunSignalName = 'enqueueRun'
export interface EnqueueRun {
  runId: string
  strategy: MultitaskStrategy
}

/** Signal: stop a run, waiting or under way. Unknown and finished runs are ignored. */
export const cancelRunSignalName = 'cancelRun'
export interface CancelRun {
  runId: string
}
