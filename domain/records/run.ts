import type { RunErrorType } from '../run-errors.ts'

export const runStatuses = ['pending', 'running', 'interrupted', 'success', 'error', 'cancelled'] as const
export type RunStatus = (typeof runStatuses)[number]
export const openRunStatuses = ['pending', 'running', 'interrupted'] as const satisfies RunStatus[]

export function isOpenRun({ status }: Pick<RunRecord, 'status'>): boolean {
  return openRunStatuses.some((open) => open === status)
}

export type MultitaskStrategy = 'enqueue' | 'reject' | 'interrupt'

/** The four members of the `error` event. */
export interface RunError {
  status_code: number
  message: string
  type: RunErrorType
  details: string
}

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

/** What the caller may set for one run, beside the assistant's own configuration. */
export interface RunOverrides {
  temperature?: number
  max_tokens?: number
  instructions?: string
  top_p?: number
  seed?: number
  frequency_penalty?: number
  presence_penalty?: number
  stop?: string[]
  /** A `ResponseFormat` as JSON text: its schema may hold any key. */
  response_format_json?: string
}

/** Those of them that go to the model as they are. */
export type SamplingParameters = Pick<
  RunOverrides,
  'top_p' | 'seed' | 'frequency_penalty' | 'presence_penalty' | 'stop'
>

export interface RunRecord {
  _id: string
  thread_id: string
  user_id: string
  project_id: string
  assistant_id: string
  public: boolean
  status: RunStatus
  /** `Message[]` as JSON text. */
  input_json: string
  overrides: RunOverrides
  /** What a caller of the compat family keeps with the run, as JSON text. */
  metadata_json?: string
  /**
   * Fencing token: each attempt of a step takes the next number, and nothing that carries an older
   * one is stored or published any more. The first belongs to the process that stored the run.
   */
  fence: number
  /** The fence with which the newest answer was stored: attempts of the step under way count from there. */
  step_fence?: number
  usage?: Usage
  error?: RunError
  /** The request that started it (W3C Trace Context), when requests are traced. */
  traceparent?: string
  /** Set when the run was handed to its thread a second time, in case the first was lost. */
  requeued?: boolean
  /**
   * When a worker looks next whether the run is still under way. It is a lease: a worker that looks
   * moves it on first. Runs that are over have none.
   */
  check_at?: Date
  /**
   * A reader who has seen an event with this id, or a later one, has seen all messages of the run: for
   * readers who come back when the stream is gone. Set while the run waits for a person or has ended.
   */
  last_data_event_id?: string
  /** Since when a person's decision is being written; gone when the thread has been told of it. */
  deciding_since?: Date
  created_at: Date
  started_at?: Date
  finished_at?: Date
}
