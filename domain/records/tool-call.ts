import Type from 'typebox'
import type { MessagePart } from '../content-parts.ts'
import { type RecordOf, StoredId, StoredTime, declareRecord, mixedOf } from './declared-record.ts'

export interface ChildRunKey {
  assistant_id: string
  run_id: string
  thread_id: string
}

/**
 * One entry of the ledger of tool calls. `_id` consists of run, step and position, because models reuse call ids.
 * Only the attempt that changes its status from `waiting` to `claimed` executes a call.
 */
const ToolCall = Type.Object({
  _id: Type.String({ minLength: 1 }),
  run_id: StoredId,
  thread_id: StoredId,
  step: Type.Number(),
  index: Type.Number(),
  /** The id that the model gave the call. */
  call_id: Type.String(),
  name: Type.String(),
  args_json: Type.String({ minLength: 1 }),
  status: Type.Enum(['waiting', 'claimed', 'done']),
  /** The client executes it, and sends the result. */
  client: Type.Optional(Type.Boolean()),
  /** The run in which another assistant answers; it was started, or is about to be. */
  asked: Type.Optional(mixedOf<ChildRunKey>()),
  /** The attempt that claimed the call. */
  claimed_by: Type.Optional(Type.String()),
  /** The result, as text for the model. */
  result: Type.Optional(Type.String()),
  /** Files that the tool has written. */
  parts: Type.Optional(Type.Array(mixedOf<MessagePart>())),
  /** The result is no answer of the tool, and says why there is none. */
  failed: Type.Optional(Type.Boolean()),
  /** A person's decision about the call, if the run waits for approval. */
  decision: Type.Optional(
    Type.Object({ action: Type.Enum(['approve', 'reject', 'edit']), message: Type.Optional(Type.String()) }),
  ),
  created_at: StoredTime,
  finished_at: Type.Optional(StoredTime),
})

export const toolCallRecord = declareRecord({
  model: 'ToolCall',
  collection: 'tool_calls',
  schema: ToolCall,
  owners: ['thread_id'],
  indexes: [[{ run_id: 1, step: 1, index: 1 }, { unique: true }], [{ thread_id: 1 }]],
  archive: undefined,
})
export type ToolCallRecord = RecordOf<typeof toolCallRecord>

/** What became of a call. */
export type CallResult = Pick<ToolCallRecord, 'result' | 'parts' | 'failed'>

/** The run of a call, by the call's key. */
export const runIdOfCall = (key: string): string => key.split('/', 1)[0] ?? ''

export function toolCallKey(runId: string, step: number, index: number): string {
  return `${runId}/${step}/${index}`
}
