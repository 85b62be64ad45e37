import type { FeedbackRecord } from '../../domain/records/feedback.ts'

/** The tracing service that feedback goes to. */
export interface FeedbackReceiver {
  /**
   * Delivers once more what may have been delivered before: the id is the same, so that it counts
   * once. Throws an `AppError`: `bad_request` when the service refuses it for good, else one that is
   * worth another try.
   */
  deliver(feedback: FeedbackRecord): Promise<void>
}
