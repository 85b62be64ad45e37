import { defineSignal, defineUpdate } from '@temporalio/workflow'
import type { MultitaskStrategy, RunError, RunStatus } from '../records/run.ts'
import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/**
 * The workflow of one conversation, which executes its runs one after the other. It carries ids and small facts
 * only.
 */
export const threadContract = {
  type: workflowType('threadWorkflow'),
  queue: 'runs',
  id: ({ threadId }) => `thread/${threadId}`,
  input: ({ threadId, run }) => ({ threadId, ...(run === undefined ? {} : { run }) }),
  summary: ({ threadId }) => `Thread ${threadId}`,
  attributes: ({ userId, projectId, threadId, assistantId, runId, run }) => ({
    UserId: userId,
    ProjectId: projectId,
    ThreadId: threadId,
    AssistantId: assistantId,
    AgentRunId: runId,
    ...(run?.askedBy === undefined ? {} : { AskingRunId: run.askedBy.runId }),
  }),
  signals: {
    /** Adds a run to the thread's queue. Repeating it for the same run has no effect. */
    enqueueRun: defineSignal<[EnqueueRun]>('enqueueRun'),
    /** Stops a run, waiting or under way. Unknown and finished runs are ignored. */
    cancelRun: defineSignal<[AboutRun]>('cancelRun'),
    /** All tool calls of the step for which a run waits are decided about and answered. Repeating it has no effect. */
    resumeRun: defineSignal<[ResumeRun]>('resumeRun'),
    /** The process in whose line the run's step waits has a free slot for it. Other runs are ignored. */
    slotFree: defineSignal<[AboutRun]>('slotFree'),
    /** A run that answers a call of this thread's run has ended, or waits for a person. Other runs are ignored. */
    askedRunChanged: defineSignal<[ChildRunChanged]>('askedRunChanged'),
  },
  updates: {
    /**
     * Like the signal, but refused with `threadBusyType` while another run is open. The validator refuses it, so
     * that a refusal is not written to the history.
     */
    tryEnqueueRun: defineUpdate<void, [EnqueueRun]>('tryEnqueueRun'),
  },
} satisfies WorkflowContract<{
  key: { threadId: string }
  /** The thread and the run that is handed to it. */
  start: { threadId: string; runId: string; userId: string; assistantId: string; projectId: string; run?: EnqueueRun }
  input: ThreadWorkflowInput
  result: ThreadResult
}>

/** What happened to the runs of one execution, for whoever looks at it in Temporal's UI. */
export interface ThreadResult {
  threadId: string
  /** How many runs ended in which way. */
  ended: Partial<Record<RunStatus, number>>
  lastRunId?: string
}

export const threadBusyType = 'thread_busy'

interface ThreadWorkflowInput {
  threadId: string
  /** Set when a thread that is never idle continues as new. */
  carried?: CarriedThread
  /** The run with which the workflow is started; further runs arrive by signal. */
  run?: EnqueueRun
}

/** The state that a thread's workflow passes on when it continues as new. */
export interface CarriedThread {
  current?: CarriedRun
  waiting: EnqueueRun[]
  /** Waiting runs that have been cancelled. */
  cancelled: string[]
  /** The newest run that interrupts older ones. */
  interruptedBy?: string
  /** What happened to the runs before. */
  result?: ThreadResult
}

/** A run that is under way, between two of its steps or before its tools. */
export interface CarriedRun {
  runId: string
  /** Number of the next model step, or of the step whose tools are called next. */
  step: number
  /** The tool calls of this step, which wait for a person's decision or for results of the client. */
  undecided?: PlannedTools & {
    /** Milliseconds since 1970. */
    expiresAtMs?: number
  }
  /** The last step whose tool calls are decided about and answered. */
  resumedStep?: number
  timeLimit?: RunTimeLimit
  /** Whether a free slot was announced since the model step was last executed. */
  isSlotFree?: boolean
  askedBy?: EnqueueRun['askedBy']
  /** Runs of which a call of this step waits, and which have ended or wait for a person. */
  changedRuns?: string[]
}

export interface RunTimeLimit {
  maxDurationMs: number
  /** Milliseconds since 1970. */
  deadlineMs: number
}

export interface EnqueueRun {
  runId: string
  strategy: MultitaskStrategy
  /** Time limit of the run from its turn on; time spent waiting for a person or for other runs is not counted. */
  maxDurationMs?: number
  /** The run, on another thread, that waits for the end of this one. */
  askedBy?: { threadId: string; runId: string }
}

interface AboutRun {
  runId: string
}

/** `runId` is the run that waits. */
interface ChildRunChanged extends AboutRun {
  askedRunId: string
}

interface ResumeRun {
  runId: string
  step: number
}

/** Prefix of the activity types of tools. The rest is the tool's name, so that the Temporal UI shows it. */
export const toolActivityPrefix = 'tool.'

export interface StepInput {
  runId: string
  /** Number of the model step within the run, from 0. */
  step: number
}

/**
 * What an activity is asked, with the thread of the workflow that asks. The thread is read from the workflow's id.
 */
export type OnThread<Input> = Input & { threadId: string }

/** The thread of a workflow with an id that `threadContract` makes. */
export const threadIdOf = (workflowId: string): string => workflowId.slice('thread/'.length)

/** The run whose end is told, for search attributes. */
export interface RunOwners {
  userId: string
  projectId: string
  assistantId: string
}

/** The result of a model step. Ids, names and limits only. */
export type StepResult =
  /**
   * The run has ended and is stored. `status` is absent if this step ended the run with success. `suggests`: the small
   * model is to be asked after it.
   */
  | { next: 'done'; status?: RunStatus; suggests?: RunOwners }
  /** The model asks for tool calls. `approval`: the run waits first, for a person or for the client. */
  | ({ next: 'tools'; approval: boolean } & PlannedTools)

/** The process is full; the step waits in its line. The workflow executes it again when it is told, or after this time. */
export interface StepQueued {
  next: 'queued'
  checkAfterMs: number
}

export interface PlannedTools {
  /** After the calls, a turn of the client follows: see `services/runs/steps.ts`. */
  clientTurn?: boolean
  /** A run that waits for the client so long has expired. */
  expiresAfterMs?: number
  calls: PlannedCall[]
  /** How many calls may run at once. */
  parallelCalls: number
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

/** What follows a tool's activity: nothing, or the call waits for the run that answers it. */
export type ToolOutcome = { askedRunId: string } | undefined

/** Whether the call that asked another assistant has its result. */
export interface AnswerResult {
  isOver: boolean
}

/** What became of a run whose client is to execute calls: `interrupted` if it waits for their results. */
export interface ClientTurnResult {
  status: RunStatus
}

/** Failure type of a step whose run has ended or was taken over by another attempt. */
export const supersededType = 'superseded'

/** How to end a run that does not end by itself. */
export interface FinalizeInput extends StepInput {
  outcome: 'cancelled' | 'error'
  error?: RunError
  /** As far as the workflow knows, the run ends before its turn: then its input does not enter the thread's log. */
  neverBegan?: boolean
  /** Only if the run still waits; otherwise its status stays. */
  ifInterrupted?: boolean
}

/** How the run really ended; a run that had ended before keeps its status. */
export interface FinalizeResult {
  status: RunStatus
}

/** Number of a log entry within its run: the input is 0, then each step has an answer and its tool results. */
export const inputEntry = 0
export const answerEntry = (step: number): number => 2 * step + 1
export const toolsEntry = (step: number): number => 2 * step + 2
