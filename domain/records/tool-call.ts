import type { MessagePart } from '../content-parts.ts'

/**
 * One entry of the ledger of tool calls. `_id` consists of run, step and position, because models reuse call ids.
 * Only the attempt that changes its status from `waiting` to `claimed` executes a call.
 */
export interface ToolCallRecord {
  _id: string
  run_id: string
  thread_id: string
  step: number
  index: number
  /** The id that the model gave the call. */
  call_id: string
  name: string
  args_json: string
  status: 'waiting' | 'claimed' | 'done'
  /** The client executes it, and sends the result. */
  client?: boolean
  /** The run in which another assistant answers; it was started, or is about to be. */
  asked?: AskedRun
  /** The attempt that claimed the call. */
  claimed_by?: string
  /** The result, as text for the model. */
  result?: string
  /** Files that the tool has written. */
  parts?: MessagePart[]
  /** A person's decision about the call, if the run waits for approval. */
  decision?: { action: 'approve' | 'reject' | 'edit'; message?: string }
  created_at: Date
  finished_at?: Date
}

export interface AskedRun {
  assistant_id: string
  run_id: string
  thread_id: string
}

/** The run of a call, by the call's key. */
export const runIdOfCall = (key: string): string => key.split('/', 1)[0] ?? ''

export function toolCallKey(runId: string, step: number, index: number): string {
  return `${runId}/${step}/${index}`
}
