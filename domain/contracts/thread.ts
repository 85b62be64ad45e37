import { defineSignal, defineUpdate } from '@temporalio/workflow'
import type { MultitaskStrategy, RunError, RunStatus } from '../records/run.ts'
import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/** The workflow of one conversation, which executes its runs one after the other. Ids and small facts only. */
export const threadContract = {
  type: workflowType('threadWorkflow'),
  queue: 'runs',
  id: ({ threadId }) => `thread/${threadId}`,
  input: ({ threadId, run }) => ({ threadId, localSteps: true, ...(run === undefined ? {} : { run }) }),
  summary: ({ threadId }) => `Thread ${threadId}`,
  attributes: ({ userId, projectId, threadId, assistantId, runId }) => ({
    UserId: userId,
    ProjectId: projectId,
    ThreadId: threadId,
    AssistantId: assistantId,
    AgentRunId: runId,
  }),
  signals: {
    /** A run wants its turn. Repeating it for the same run is harmless. */
    enqueueRun: defineSignal<[EnqueueRun]>('enqueueRun'),
    /** Stop a run, waiting or under way. Unknown and finished runs are ignored. */
    cancelRun: defineSignal<[AboutRun]>('cancelRun'),
    /** A person has decided about all tools for which a run waits after a step. Repeating it is harmless. */
    resumeRun: defineSignal<[ResumeRun]>('resumeRun'),
  },
  updates: {
    /**
     * As the signal, but refused with `threadBusyType` while another run has the thread: by the
     * validator, so that a refusal is not written to the history.
     */
    tryEnqueueRun: defineUpdate<boolean, [EnqueueRun]>('tryEnqueueRun'),
  },
} satisfies WorkflowContract<{
  key: { threadId: string }
  /** The thread and the run that is handed to it. */
  start: { threadId: string; runId: string; userId: string; assistantId: string; projectId: string; run?: EnqueueRun }
  input: ThreadWorkflowInput
  result: void
}>

export const threadBusyType = 'thread_busy'

export interface ThreadWorkflowInput {
  threadId: string
  /** Set when a thread that is never idle goes on in a new execution. */
  carried?: CarriedThread
  /** The run that the workflow is started with; others come by signal. */
  run?: EnqueueRun
  /** Model steps are local activities; executions from before there were any lack it. */
  localSteps?: boolean
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

export interface EnqueueRun {
  runId: string
  strategy: MultitaskStrategy
  /** How long the run may work once it has its turn; time spent waiting for a person is not counted. */
  maxDurationMs?: number
}

export interface AboutRun {
  runId: string
}

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
  /** The run ends before its turn: its thread never hears its input. */
  neverBegan?: boolean
}

/** How the run ended in fact: one that had ended before stays as it was. */
export interface SettleResult {
  status: RunStatus
}

/** Number of an entry in the log within its run: the input is 0, then each step has its answer and its tool results. */
export const inputEntry = 0
export const answerEntry = (step: number): number => 2 * step + 1
export const toolsEntry = (step: number): number => 2 * step + 2
