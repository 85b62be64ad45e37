import type { FeedbackOutcome, FeedbackWorkflowInput } from '../../domain/contracts/feedback.ts'
import type { Collections } from '../../services/collections.ts'
import type { FeedbackReceiver } from '../../services/feedback/index.ts'
import { feedbackStore } from '../../services/stores/feedback.ts'
import { translateErrors } from '../durable.ts'

export interface FeedbackActivityDeps {
  collections: Pick<Collections, 'feedback'>
  receiver: FeedbackReceiver
}

/** The side effects of the `feedback` workflow. */
export function createFeedbackActivities({ collections, receiver }: FeedbackActivityDeps) {
  const store = feedbackStore(collections)
  return {
    /** Delivers the feedback unless it has been delivered, or was deleted with its thread. */
    deliverFeedback: translateErrors(async ({ feedbackId }: FeedbackWorkflowInput): Promise<FeedbackOutcome> => {
      const record = await store.findOfAny(feedbackId)
      if (record === null) return 'gone'
      if (record.status === 'delivered') return 'delivered'
      await receiver.deliver(record)
      await store.noteDelivered(feedbackId)
      return 'delivered'
    }),

    giveUpFeedback: translateErrors(async ({ feedbackId }: FeedbackWorkflowInput): Promise<void> => {
      await store.noteFailed(feedbackId)
    }),
  }
}
