import Type from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord, mixedOf } from './declared-record.ts'

/** A user's feedback on a run. It is stored first; the workflow `feedback` sends it to the tracing service. */
const Feedback = Type.Object({
  _id: StoredId,
  run_id: StoredId,
  thread_id: StoredId,
  user_id: StoredId,
  key: Type.String({ minLength: 1 }),
  score: Type.Optional(mixedOf<number | boolean>()),
  /** `{"value": …}` as JSON text: the value is free-form. */
  value_json: Type.Optional(Type.String()),
  comment: Type.Optional(Type.String()),
  /** `stored`: no tracing service is set up. `failed`: the service refused it, or was unreachable for days. */
  status: Type.Enum(['stored', 'submitted', 'delivered', 'failed']),
  created_at: StoredTime,
  delivered_at: Type.Optional(StoredTime),
})

export const feedbackRecord = declareRecord({
  model: 'Feedback',
  collection: 'feedback',
  schema: Feedback,
  // What somebody has said about answers in chats of others, too.
  owners: ['user_id', 'thread_id'],
  orphanedBy: { thread_id: 'threads' },
  indexes: [[{ thread_id: 1 }], [{ user_id: 1 }]],
  archive: undefined,
})
export type FeedbackRecord = RecordOf<typeof feedbackRecord>
