import type { RunRecord, Usage } from '../domain/records/run.ts'

/**
 * The members of a run that its spans need. `traceparent` (W3C Trace Context) is that of the request that started
 * it.
 */
export type TracedRun = Pick<
  RunRecord,
  '_id' | 'thread_id' | 'assistant_id' | 'user_id' | 'project_id' | 'created_at' | 'traceparent'
>

export interface ChatFacts {
  model: string
  step: number
  temperature: number | undefined
  maxTokens: number | undefined
}

export interface ChatResult {
  /** The model that answered. */
  model: string
  usage: Usage | undefined
  finishReason: 'stop' | 'tool_calls'
}

export interface ToolFacts {
  name: string
  type: string
  callId: string
  step: number
}

/**
 * Records traces of runs: one span for the run, and one for each model step and each tool call. Spans contain ids,
 * names, numbers and kinds of errors, never messages.
 */
export interface RunTracing {
  /** A span around one answer of a model. An error is recorded by its kind and rethrown. */
  chat<T>(run: TracedRun, facts: ChatFacts, ask: () => Promise<T>, resultOf: (answer: T) => ChatResult): Promise<T>
  /** A span around one execution of a tool. */
  tool<T>(run: TracedRun, facts: ToolFacts, execute: () => Promise<T>): Promise<T>
  /** The first step of a run begins. */
  begun(run: TracedRun): void
  /** The span of a whole run, written when it has ended. */
  ended(run: RunRecord): void
}

export interface RequestSpan {
  /** For log lines: a collector finds the trace by it. */
  readonly traceId: string
  /** Runs the work of a request: within, `currentTraceparent` is the request's. */
  within(work: () => void): void
  end(facts: { method: string; route: string | undefined; operation: string | undefined; status: number }): void
}

export interface Tracing extends RunTracing {
  /** The span of a request, a child of the caller's if there is a `traceparent`; undefined if nothing is traced. */
  request(traceparent: string | undefined): RequestSpan | undefined
  currentTraceparent(): string | undefined
}
