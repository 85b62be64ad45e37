import { feedbackContract } from '../../domain/contracts/feedback.ts'
import { checkFreeForm } from '../../domain/foreign-json.ts'
import { derivedId } from '../../domain/ids.ts'
import type { FeedbackRecord } from '../../domain/records/feedback.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { Caller } from '../owner.ts'
import { lockThread } from '../parents.ts'
import { type FeedbackText, feedbackStore } from '../stores/feedback.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { WorkflowClient } from '../workflow-client.ts'

interface NewFeedback {
  run_id: string
  key: string
  score?: number | boolean
  value?: unknown
  comment?: string
}

interface FeedbackDeps {
  collections: Pick<Collections, 'feedback' | 'threads'>
  transaction: RunInTransaction
  runs: { get(caller: Caller, runId: string): Promise<RunRecord> }
  workflows: Pick<WorkflowClient, 'start'>
  /** Whether a tracing service is set up. Without one, feedback is only stored. */
  hasReceiver: boolean
}

/** Feedback of users on runs that they see. */
export function createFeedback({ collections, transaction, runs, workflows, hasReceiver }: FeedbackDeps) {
  const store = feedbackStore(collections)
  return {
    find: store.findOwned,

    /** Stores the feedback and has it delivered. Throws `not_found` for a run that the caller does not see. */
    submit: async (caller: Caller, given: NewFeedback, feedbackId: string): Promise<FeedbackRecord> =>
      add(await runs.get(caller, given.run_id), caller.userId, given, feedbackId),

    /**
     * Of a public caller on his own run, once for each run: what he says later replaces it here. It belongs to the owner of
     * the assistant.
     */
    async submitOfVisitor(run: RunRecord, given: Omit<NewFeedback, 'run_id'>): Promise<void> {
      const id = derivedId(['feedback of a visitor', run._id], run._id)
      try {
        await add(run, run.user_id, { ...given, run_id: run._id }, id)
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        await store.changeText(run.user_id, id, wordsOf(given))
      }
    },
  }

  async function add(run: RunRecord, userId: string, given: NewFeedback, feedbackId: string): Promise<FeedbackRecord> {
    const record: FeedbackRecord = {
      _id: feedbackId,
      run_id: run._id,
      thread_id: run.thread_id,
      user_id: userId,
      key: given.key,
      ...wordsOf(given),
      status: hasReceiver ? 'submitted' : 'stored',
      created_at: new Date(),
    }
    await transaction(async (session) => {
      await lockThread(collections, run.thread_id, session)
      await store.add(record, session)
    })
    if (!hasReceiver) return record
    try {
      await workflows.start(feedbackContract, { feedbackId: record._id, runId: run._id, userId })
    } catch (error) {
      // The caller is asked to try again, so the stored feedback is removed; otherwise it would count twice.
      await store.remove(record)
      throw error
    }
    return record
  }
}

function wordsOf({ score, value, comment }: Pick<NewFeedback, 'score' | 'value' | 'comment'>): FeedbackText {
  return {
    ...(score === undefined ? {} : { score }),
    ...(value === undefined ? {} : { value_json: checkFreeForm(['body', 'value'], { value }) }),
    ...(comment === undefined ? {} : { comment }),
  }
}

/** The tracing service that receives feedback. */
export interface FeedbackReceiver {
  /**
   * Delivers feedback. A repeated delivery has the same id, so that it counts once. Throws an `AppError`:
   * `bad_request` if the service refuses it permanently, otherwise one that is retried.
   */
  deliver(feedback: FeedbackRecord): Promise<void>
}
