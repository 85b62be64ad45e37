import type { ThreadRecord } from '../../../domain/records/thread.ts'
import type { Collections } from '../../collections.ts'
import { countsInQuota, releaseQuota } from '../../threads/create-thread.ts'
import type { RunInTransaction } from '../../transactions.ts'

export interface MoveThreadsDeps {
  collections: Pick<
    Collections,
    'projects' | 'users' | 'threads' | 'checkpoints' | 'runs' | 'attachments' | 'documents' | 'shares'
  >
  transaction: RunInTransaction
}

const asIs = { timestamps: false } as const

/** Moves threads with what belongs to them: to another account, or into another project. Both are safe to repeat. */
export function createMoveThreads({ collections, transaction }: MoveThreadsDeps) {
  const { users, threads, checkpoints, runs, attachments, documents, shares } = collections

  /** The thread, and those in which assistants were asked for it. */
  async function withThoseBelow({ _id, user_id }: ThreadRecord): Promise<string[]> {
    const below = await threads.find({ asked_from: _id, user_id }, { _id: 1 }).lean<{ _id: string }[]>()
    return [_id, ...below.map((thread) => thread._id)]
  }

  return {
    /** Its runs name who started them, as before. It counts for who gets it, even beyond his quota; its link ends. */
    async giveAway(thread: ThreadRecord, to: string): Promise<void> {
      const { user_id: from, created_by: maker = from } = thread
      const ids = await withThoseBelow(thread)
      const those = { thread_id: { $in: ids } }
      await runs.updateMany({ ...those, user_id: from }, { $set: { in_chat_of_other: true } }, asIs)
      await runs.updateMany({ ...those, user_id: to }, { $unset: { in_chat_of_other: 1 } }, asIs)
      await attachments.updateMany({ ...those, user_id: from }, { $set: { user_id: to } })
      await shares.deleteMany({ thread_id: thread._id, user_id: from })
      await threads.updateMany({ _id: { $in: ids.slice(1) }, user_id: from }, { $set: { user_id: to } }, asIs)
      // Last, because it is found by its owner.
      await transaction(async (session) => {
        const { modifiedCount } = await threads.updateOne(
          { _id: thread._id, user_id: from, deleting: { $ne: true } },
          { $set: { user_id: to, created_by: maker }, $unset: { folder_id: 1 }, $inc: { holds: 1 } },
          { session, timestamps: false },
        )
        if (modifiedCount === 0) return
        // With it: a version that is stored at this moment locks the thread as its owner's.
        await documents.updateMany({ thread_id: thread._id, user_id: from }, { $set: { user_id: to } }, { session })
        if (!countsInQuota(thread)) return
        await releaseQuota({ users }, { userId: from, places: 1 }, session)
        await users.updateOne({ _id: to }, { $inc: { thread_counter: 1 } }, { session })
      })
    },

    /** Into a project of its owner, where its assistant is not. What its runs have cost stays where it was spent. */
    async takeAlong(thread: ThreadRecord, projectId: string): Promise<void> {
      const { user_id: userId, project_id: from } = thread
      const ids = await withThoseBelow(thread)
      const moved = { $set: { project_id: projectId } }
      const of = { thread_id: { $in: ids } }
      await checkpoints.updateMany({ ...of, 'search.project_id': from }, { $set: { 'search.project_id': projectId } })
      // Responses and stored completions are found by their runs.
      if (thread.counted === false) await runs.updateMany({ ...of, project_id: from }, moved, asIs)
      await shares.updateMany({ thread_id: thread._id, user_id: userId }, moved, asIs)
      const elsewhere = { ...moved, $unset: { assistant_id: 1, vector_stores: 1, code_files: 1, folder_id: 1 } }
      await threads.updateMany({ _id: { $in: ids.slice(1) }, user_id: userId }, elsewhere, asIs)
      await threads.updateOne(
        { _id: thread._id, user_id: userId, project_id: from },
        { ...elsewhere, $inc: { holds: 1 } },
        asIs,
      )
    },
  }
}
