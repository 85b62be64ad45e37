import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, archiveLine, declareRecord } from './declared-record.ts'

export const memoryLimits = {
  textLength: 1000,
  /** Facts of an account, besides those of callers. */
  ofUser: 500,
  ofCaller: 50,
  ofAllCallers: 10_000,
  savesOfRun: 10,
  /** A caller's fact is deleted when it was not saved again for so long. */
  callerDays: 90,
  /** What a run is given without asking. */
  recalled: 8,
  recalledCharacters: 2000,
  /** What the tool finds. */
  found: 10,
  queryLength: 2000,
} as const

/** A fact that assistants keep across threads. */
const Memory = Type.Object({
  _id: StoredId,
  /** The account that the fact belongs to; of a caller's fact, the owner of the assistant. */
  user_id: StoredId,
  /** `scopeKey` of those who share the fact. */
  scope: Type.String({ minLength: 1 }),
  /** At most one of these two: for all assistants of the project, or for one assistant. Neither: for all of the user. */
  project_id: Type.Optional(StoredId),
  assistant_id: Type.Optional(StoredId),
  /** Of a fact about a caller of the assistant: who it is, see `callerHash`. */
  caller: Type.Optional(Type.String()),
  text: Type.String({ minLength: 1, maxLength: memoryLimits.textLength }),
  /** What counts as the same text, see `sameTextHash`. Unique in the scope. */
  text_hash: Type.String({ minLength: 1 }),
  /** The message that the fact is from. It may be gone. */
  source_message_id: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  /** The run whose assistant saved it. */
  run_id: Type.Optional(StoredId),
  made_by: Type.Enum(['user', 'assistant']),
  /** The model of its vector; absent while the current text has none. */
  embedded_with: Type.Optional(Type.String()),
  /** The model that refused the text: it is found by its words only. */
  refused_by: Type.Optional(Type.String()),
  /** Of a caller's fact: when it is deleted. */
  expires_at: Type.Optional(StoredTime),
  /** It is hidden, and its text is gone; the vector may still be there. */
  deleting: Type.Optional(Type.Boolean()),
  created_at: StoredTime,
  updated_at: StoredTime,
})

const line = archiveLine(Memory, {
  id: 'memory_id',
  members: ['text', 'project_id', 'assistant_id', 'source_message_id', 'made_by', 'created_at'],
  // What callers of an assistant have told it is theirs.
  only: { caller: { $exists: false } },
})

export const memoryRecord = declareRecord({
  model: 'Memory',
  collection: 'memories',
  schema: Memory,
  owners: ['user_id', 'project_id', 'assistant_id'],
  indexes: [
    [{ scope: 1, text_hash: 1 }, { unique: true }],
    [{ user_id: 1, _id: -1 }],
    [{ assistant_id: 1 }],
    [{ project_id: 1 }],
    [{ run_id: 1 }],
    [{ embedded_with: 1 }],
    [{ expires_at: 1 }, { partialFilterExpression: { expires_at: { $exists: true } } }],
    [{ deleting: 1 }, { partialFilterExpression: { deleting: true } }],
  ],
  archive: line,
})
export type MemoryRecord = RecordOf<typeof memoryRecord>
