import type { ClientSession } from 'mongoose'
import type { FeedbackRecord } from '../../domain/records/feedback.ts'
import type { RunKey } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'

/** What somebody has said. */
export type FeedbackText = Pick<FeedbackRecord, 'score' | 'value_json' | 'comment'>

/** All statements on `feedback`. */
export const feedbackStore = ({ feedback }: Pick<Collections, 'feedback'>) => ({
  findOwned: async (userId: string, id: string) =>
    feedback.findOne({ _id: id, user_id: userId }).lean<FeedbackRecord>(),

  /** For a worker, which its workflow tells of it. */
  findOfAny: async (id: string) => feedback.findById(id).lean<FeedbackRecord>(),

  noteDelivered: async (id: string) =>
    feedback.updateOne({ _id: id }, { $set: { status: 'delivered', delivered_at: new Date() } }),

  noteFailed: async (id: string) =>
    feedback.updateOne({ _id: id, status: 'submitted' }, { $set: { status: 'failed' } }),

  add: async (record: FeedbackRecord, session?: ClientSession) =>
    feedback.create([record], session === undefined ? {} : { session }),

  /** What is absent is removed. */
  async changeText(userId: string, id: string, text: FeedbackText): Promise<void> {
    const names = ['score', 'value_json', 'comment'] as const
    const $unset = Object.fromEntries(
      names.filter((name) => text[name] === undefined).map((name) => [name, 1 as const]),
    )
    await feedback.updateOne({ _id: id, user_id: userId }, { $set: text, $unset })
  },

  removeOfRun: async ({ _id, thread_id }: RunKey) => feedback.deleteMany({ run_id: _id, thread_id }),

  remove: async ({ _id }: Pick<FeedbackRecord, '_id'>) => feedback.deleteOne({ _id }),
})
