import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common'
import type { AnswerOf, ArgsOf, Startable, WorkflowType } from '../domain/contracts/workflow-contract.ts'

/** A workflow that is found by its key. */
export interface Addressed<Key> {
  id: (key: Key) => string
}

export type Messages<All, Definition> = Record<keyof All, Definition>

export type UpdateOutcome<Answer> =
  | { status: 'answered'; answer: Answer }
  /** The workflow answered with a failure of this type. */
  | { status: 'refused'; type: string; cause: Error }
  /** There is no such workflow, or it ended before it answered. */
  | { status: 'not_running' }

export type WorkflowEnd<Result> =
  | { status: 'completed'; result: Result }
  | { status: 'failed'; cause: Error }
  /** It did not end within the time that the caller waited. */
  | { status: 'running' }
  | { status: 'not_found' }

/** `broken_off`: terminated, failed, cancelled or timed out. */
export type WorkflowState =
  /** `runId`: the run of an assistant that its search attributes name. */
  | { status: 'running'; runId?: string | undefined }
  | { status: 'not_found' }
  | { status: 'completed' | 'broken_off'; closedAt: Date | undefined }

/**
 * Calls any workflow by its contract. Every call ends: it throws `unavailable` when Temporal is silent for the time of
 * the settings, or lives and has not answered in three times that. Temporal may have accepted it all the same.
 */
export interface WorkflowClient {
  /** Starts the workflow, or joins the one that runs under its id. Resolves as soon as the start is durable. */
  start<Start>(contract: Startable<Start>, start: NoInfer<Start>): Promise<void>

  /**
   * Starts the workflow unless one runs under its id. `taskTimeoutMs` replaces the configured timeout of the
   * workflow tasks of a run. `eager`: the server returned its first task to a worker of this process.
   */
  startNew<Start>(
    contract: Startable<Start>,
    start: NoInfer<Start>,
    options?: { taskTimeoutMs?: number | undefined },
  ): Promise<'started' | 'eager' | 'already_running'>

  /** Sends a signal to the workflow, which is started if it does not run. */
  signalWithStart<Start, All extends Messages<All, SignalDefinition<unknown[]>>, Name extends keyof All>(
    contract: Startable<Start> & { signals: All },
    start: NoInfer<Start>,
    name: Name,
    ...args: ArgsOf<All[Name]>
  ): Promise<void>

  /** Sends an update to the workflow, which is started if it does not run, and waits for the answer. */
  updateWithStart<Start, All extends Messages<All, UpdateDefinition<unknown, unknown[]>>, Name extends keyof All>(
    contract: Startable<Start> & { updates: All },
    start: NoInfer<Start>,
    name: Name,
    ...args: ArgsOf<All[Name]>
  ): Promise<UpdateOutcome<AnswerOf<All[Name]>>>

  /** False if no such workflow runs. */
  signal<Key, All extends Messages<All, SignalDefinition<unknown[]>>, Name extends keyof All>(
    contract: Addressed<Key> & { signals: All },
    key: NoInfer<Key>,
    name: Name,
    ...args: ArgsOf<All[Name]>
  ): Promise<boolean>

  /** Sends an update to a running workflow, and waits for the answer. */
  update<Key, All extends Messages<All, UpdateDefinition<unknown, unknown[]>>, Name extends keyof All>(
    contract: Addressed<Key> & { updates: All },
    key: NoInfer<Key>,
    name: Name,
    ...args: ArgsOf<All[Name]>
  ): Promise<UpdateOutcome<AnswerOf<All[Name]>>>

  /** Undefined if there is no such workflow. */
  query<Key, All extends Messages<All, QueryDefinition<unknown>>, Name extends keyof All>(
    contract: Addressed<Key> & { queries: All },
    key: NoInfer<Key>,
    name: Name,
  ): Promise<AnswerOf<All[Name]> | undefined>

  /** How the newest execution ended. Waits for its end for at most `waitMs`, or until `signal` aborts. */
  result<Key, Result>(
    contract: Addressed<Key> & { type: WorkflowType<never, Result> },
    key: NoInfer<Key>,
    options: { waitMs: number; signal?: AbortSignal },
  ): Promise<WorkflowEnd<Result>>

  state<Key>(contract: Addressed<Key>, key: NoInfer<Key>): Promise<WorkflowState>

  /** Terminates the workflow. False if no such workflow runs. */
  terminate<Key>(contract: Addressed<Key>, key: NoInfer<Key>, reason: string): Promise<boolean>
}
