import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import { type RunRecord, type SpentAttempt, runKey } from '../../../domain/records/run.ts'
import type { FollowUps, ThreadRecord } from '../../../domain/records/thread.ts'
import type { RunUsage } from '../../budgets/usage.ts'
import type { Collections } from '../../collections.ts'

/** The statements about chats and their runs. What the small model writes is of the run's own chat: ids lead to it. */
export const suggestionStore = ({
  runs,
  threads,
  assistants,
}: Pick<Collections, 'runs' | 'threads' | 'assistants'>) => ({
  runOfAny: async (threadId: string, runId: string) =>
    runs.findOne({ _id: runId, thread_id: threadId, status: 'success' }).lean<RunRecord>(),

  threadOfAny: async (threadId: string) =>
    threads.findOne({ _id: threadId, deleting: { $ne: true } }).lean<ThreadRecord>(),

  assistantOfAny: async (assistantId: string) =>
    assistants.findOne({ _id: assistantId, deleting: { $ne: true }, suspended: { $ne: true } }).lean<AssistantRecord>(),

  /** Unless something was added to the chat, or deleted from it, since it was read. */
  async addFollowUps({ _id, user_id, last_entry_id }: ThreadRecord, followUps: FollowUps): Promise<void> {
    const asRead = { _id, user_id, last_entry_id, deleting: { $ne: true } }
    await threads.updateOne(asRead, { $set: { follow_ups: followUps } })
  },

  /** Likewise, and unless a person has given a name since. */
  async name({ _id, user_id, last_entry_id }: ThreadRecord, name: string): Promise<void> {
    const asRead = { _id, user_id, last_entry_id, provisional_name: true as const, deleting: { $ne: true } }
    await threads.updateOne(asRead, { $set: { name }, $unset: { provisional_name: 1 } })
  },

  /** Adds what an attempt has cost to its run, which has ended; null if it is gone. */
  addSpent: async (run: RunRecord, spent: SpentAttempt) =>
    runs
      .findOneAndUpdate({ ...runKey(run), user_id: run.user_id }, { $push: { spent } }, { returnDocument: 'after' })
      .lean<RunRecord>(),

  setUsage: async (run: RunRecord, usage: RunUsage) =>
    runs.updateOne({ ...runKey(run), user_id: run.user_id }, { $set: usage }),
})
