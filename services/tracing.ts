import type { RunRecord, Usage } from '../domain/records/run.ts'

/** A run as far as its spans need it. `traceparent` (W3C Trace Context) is that of the request that started it. */
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
 * Where runs leave their traces: one span for the run, one for each model step and each tool call.
 * Never what was said: spans carry ids, names, numbers and kinds of errors.
 */
export interface RunTracing {
  /** A span around one answer of a model. What is thrown is noted by its kind and thrown on. */
  chat<T>(run: TracedRun, facts: ChatFacts, ask: () => Promise<T>, resultOf: (answer: T) => ChatResult): Promise<T>
  /** A span around one execution of a tool. */
  tool<T>(run: TracedRun, facts: ToolFacts, execute: () => Promise<T>): Promise<T>
  /** The span of a whole run, when it has ended. */
  ended(run: RunRecord): void
}

export interface RequestSpan {
  /** For log lines: by it a collector finds the trace. */
  readonly traceId: string
  /** Runs what belongs to the request: `currentTraceparent` is the request's within. */
  within(work: () => void): void
  end(facts: { method: string; route: string | undefined; operation: string | undefined; status: number }): void
}

export interface Tracing extends RunTracing {
  /** The span of a request, below the caller's own when there is a `traceparent`; undefined when nothing is traced. */
  request(traceparent: string | undefined): RequestSpan | undefined
  currentTraceparent(): string | undefined
}
