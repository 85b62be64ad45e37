import type { MultitaskStrategy, RunError, RunStatus } from '../records/run.ts'

/** Messages of the `thread` workflow, the actor of one conversation. Ids and small facts only. */
export const threadWorkflowType = 'threadWorkflow'

export function threadWorkflowId(threadId: string): string {
  return `thread/${threadId}`
}

export interface ThreadWorkflowInput {
  threadId: string
  /** Set when a thread that is never idle goes on in a new execution. */
  carried?: CarriedThread
}

/** What a thread's workflow knows when it continues as new. */
export interface CarriedThread {
  current?: CarriedRun
  waiting: EnqueueRun[]
  /** Runs among the waiting that have been cancelled. */
  cancelled: string[]
}

/** A run that is under way, between two of its steps or before its tools. */
export interface CarriedRun {
  runId: string
  /** Number of the model step that is next, or whose tools are next. */
  step: number
  /** The tools of this step, which wait for a person's decision. */
  undecided?: PlannedTools
  /** The last step about whose tools a person has decided. */
  resumedStep?: number
  timeLimit?: RunTimeLimit
}

export interface RunTimeLimit {
  maxDurationMs: number
  /** Milliseconds since 1970. */
  deadlineMs: number
}

/** Signal: a run wants its turn. Repeating it for the same run is harmless. */
export const enqueueRunSignalName = 'enqueueRun'
export interface EnqueueRun {
  runId: string
  strategy: MultitaskStrategy
  /** How long the run may work once it has its turn; time spent waiting for a person is not counted. */
  maxDurationMs?: number
}

/**
 * Update: as the signal, but refused while another run has the thread: by the validator, with a
 * failure of this type, so that a refusal is not written to the history.
 */
export const tryEnqueueRunUpdateName = 'tryEnqueueRun'
export const threadBusyType = 'thread_busy'

/** Signal: stop a run, waiting or under way. Unknown and finished runs are ignored. */
export const cancelRunSignalName = 'cancelRun'
export interface AboutRun {
  runId: string
}

/** Signal: a person has decided about all tools for which a run waits after a step. Repeating it is harmless. */
export const resumeRunSignalName = 'resumeRun'
export interface ResumeRun {
  runId: string
  step: number
}

/** Prefix of the activity types of tools: the rest is the tool's name, so that the Temporal UI shows it. */
export const toolActivityPrefix = 'tool.'

export interface StepInput {
  runId: string
  /** Number of the model step within the run, from 0. */
  step: number
}

/** What a model step came to. Ids, names and limits only. */
export type StepResult =
  /** The run is over, and all about it is stored. `status` is absent for a run that this step ended with success. */
  | { next: 'done'; status?: RunStatus }
  /** The model asks for tools. `approval`: a person has to agree first. */
  | ({ next: 'tools'; approval: boolean } & PlannedTools)

export interface PlannedTools {
  calls: PlannedCall[]
  /** How many of the calls may be under way at once; results of earlier versions lack it and mean all. */
  parallelCalls?: number
  /** How many model steps the run may make. */
  maxSteps: number
}

export interface PlannedCall {
  index: number
  name: string
  timeoutMs: number
  safeToRepeat: boolean
}

export interface ToolInput extends StepInput {
  index: number
}

/** Failure type of a step whose run somebody else has ended or taken over. */
export const supersededType = 'superseded'

/** How a run ends that does not end by itself. */
export interface SettleInput extends StepInput {
  outcome: 'cancelled' | 'error'
  error?: RunError
}

/** How the run ended in fact: one that had ended before stays as it was. */
export interface SettleResult {
  status: RunStatus
}

/** Number of an entry in the log within its run: the input is 0, then each step has its answer and its tool results. */
export const inputEntry = 0
export const answerEntry = (step: number): number => 2 * step + 1
export const toolsEntry = (step: number): number => 2 * step + 2
