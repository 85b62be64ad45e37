/**
 * One entry of the ledger of tool calls. `_id` is run, step and place, because models repeat their
 * own call ids. A call is executed only by who moves it from `waiting` to `claimed`.
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
  /** The attempt that holds the claim. */
  claimed_by?: string
  /** What the model is told. */
  result?: string
  /** What a person decided about the call, when the run asked. */
  decision?: { action: 'approve' | 'reject' | 'edit'; message?: string }
  created_at: Date
  finished_at?: Date
}

export function toolCallKey(runId: string, step: number, index: number): string {
  return `${runId}/${step}/${index}`
}
