import type { ToolCall } from './messages.ts'
import { parseOwnJson } from './own-json.ts'

/** A call that an earlier run of the conversation asked for, and that a person has allowed since. */
export interface ApprovedCall {
  call: ToolCall
  /** The message of the run's input that says so. Without it the call was made before, and is not made again. */
  decision: string
}

export function readApprovedCalls(json: string | undefined): ApprovedCall[] {
  return json === undefined ? [] : parseOwnJson<ApprovedCall[]>(json)
}
