import { feedbackContract } from '../../domain/contracts/feedback.ts'
import { checkFreeForm } from '../../domain/free-form.ts'
import type { FeedbackRecord } from '../../domain/records/feedback.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { Collections } from '../collections.ts'
import { holdThread } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'

export interface NewFeedback {
  run_id: string
  key: string
  score?: number | boolean
  value?: unknown
  comment?: string
}

interface FeedbackDeps {
  collections: Pick<Collections, 'feedback' | 'threads'>
  transaction: RunInTransaction
  runs: { get(userId: string, runId: string): Promise<RunRecord> }
  workflows: Pick<WorkflowClient, 'start'>
  /** Whether a tracing service is set up. Without one, feedback is only stored. */
  hasReceiver: boolean
}

/** Feedback of users on their runs. */
export function createFeedback({ collections, transaction, runs, workflows, hasReceiver }: FeedbackDeps) {
  return {
    find: (userId: string, id: string) =>
      collections.feedback.findOne({ _id: id, user_id: userId }).lean<FeedbackRecord>(),

    /** Stores the feedback and has it delivered. Throws `not_found` for another user's run. */
    async submit(
      userId: string,
      { run_id, key, score, value, comment }: NewFeedback,
      feedbackId: string,
    ): Promise<FeedbackRecord> {
      const run = await runs.get(userId, run_id)
      const record: FeedbackRecord = {
        _id: feedbackId,
        run_id: run._id,
        thread_id: run.thread_id,
        user_id: userId,
        key,
        ...(score === undefined ? {} : { score }),
        ...(value === undefined ? {} : { value_json: checkFreeForm(['body', 'value'], { value }) }),
        ...(comment === undefined ? {} : { comment }),
        status: hasReceiver ? 'submitted' : 'stored',
        created_at: new Date(),
      }
      await transaction(async (session) => {
        await holdThread(collections, run.thread_id, session)
        await collections.feedback.create([record], { session })
      })
      if (!hasReceiver) return record
      try {
        await workflows.start(feedbackContract, { feedbackId: record._id, runId: run._id, userId })
      } catch (error) {
        // The caller is asked to try again, so the stored feedback is removed; otherwise it would count twice.
        await collections.feedback.deleteOne({ _id: record._id })
        throw error
      }
      return record
    },
  }
}
