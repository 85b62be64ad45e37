import type { FeedbackOutcome, FeedbackWorkflowInput } from '../../domain/contracts/feedback.ts'
import type { Collections } from '../../services/collections.ts'
import type { FeedbackRecord } from '../../domain/records/feedback.ts'
import type { FeedbackReceiver } from '../../services/feedback/receiver.ts'
import { translateErrors } from '../translate-errors.ts'

export interface FeedbackActivityDeps {
  collections: Pick<Collections, 'feedback'>
  receiver: FeedbackReceiver
}

/** The side effects of the `feedback` workflow. */
export function createFeedbackActivities({ collections: { feedback }, receiver }: FeedbackActivityDeps) {
  return {
    /** Delivers the feedback unless it has been delivered, or was deleted with its thread. */
    deliverFeedback: translateErrors(async ({ feedbackId }: FeedbackWorkflowInput): Promise<FeedbackOutcome> => {
      const record = await feedback.findById(feedbackId).lean<FeedbackRecord>()
      if (record === null) return 'gone'
      if (record.status === 'delivered') return 'delivered'
      await receiver.deliver(record)
      await feedback.updateOne({ _id: feedbackId }, { $set: { status: 'delivered', delivered_at: new Date() } })
      return 'delivered'
    }),

    giveUpFeedback: translateErrors(async ({ feedbackId }: FeedbackWorkflowInput): Promise<void> => {
      await feedback.updateOne({ _id: feedbackId, status: 'submitted' }, { $set: { status: 'failed' } })
    }),
  }
}
