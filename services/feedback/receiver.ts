import type { FeedbackRecord } from '../../domain/records/feedback.ts'

/** The tracing service that receives feedback. */
export interface FeedbackReceiver {
  /**
   * Delivers feedback. A repeated delivery has the same id, so that it counts once. Throws an `AppError`:
   * `bad_request` if the service refuses it permanently, otherwise one that is retried.
   */
  deliver(feedback: FeedbackRecord): Promise<void>
}
