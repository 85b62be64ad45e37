import type { MultitaskStrategy } from '../../domain/records/run.ts'

export interface ThreadRunRef {
  threadId: string
  runId: string
  userId: string
  assistantId: string
  projectId: string
}

/** The way to the workflow that does a thread's runs one after the other. */
export interface ThreadActor {
  /** Gives a run its turn; `false` when the strategy is `reject` and another run has the thread. Safe to repeat. */
  enqueue(run: ThreadRunRef, strategy: MultitaskStrategy): Promise<boolean>
  /** Tells the workflow to stop a run. A workflow that is gone has nothing to stop. */
  cancel(threadId: string, runId: string): Promise<void>
  /** Tells the workflow that a person has decided. `false` when no workflow is there. */
  resume(threadId: string, runId: string, step: number): Promise<boolean>
}
