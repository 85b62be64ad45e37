import type { ClientSession } from 'mongoose'
import type { ShareRecord } from '../../domain/records/share.ts'
import type { Collections } from '../collections.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { isDeleted } from './results.ts'

const recordBytes = 5000

/** All statements on `shares`. */
export const shareStore = ({ shares }: Pick<Collections, 'shares'>) => ({
  findOwned: async (userId: string, threadId: string) =>
    shares.findOne({ _id: threadId, user_id: userId }).lean<ShareRecord>(),

  /** Of a project, newest first. */
  listOwned: (
    { userId, projectId }: { userId: string; projectId: string },
    range: PageRange,
  ): Promise<Page<ShareRecord>> =>
    readPage(
      shares.find({ user_id: userId, project_id: projectId }).sort({ created_at: -1, _id: -1 }).lean<ShareRecord>(),
      range,
      () => recordBytes,
    ),

  /** In place of an earlier one. */
  async replace(share: ShareRecord, session: ClientSession): Promise<void> {
    await shares.deleteOne({ _id: share._id, user_id: share.user_id }, { session })
    await shares.create([share], { session })
  },

  /** Null if there is none. */
  showUntil: async (userId: string, threadId: string, seq: number) =>
    shares
      .findOneAndUpdate(
        { _id: threadId, user_id: userId },
        { $set: { until_seq: seq, updated_at: new Date() } },
        { returnDocument: 'after' },
      )
      .lean<ShareRecord>(),

  /** False if there is none. */
  removeOwned: async (userId: string, threadId: string) =>
    isDeleted(await shares.deleteOne({ _id: threadId, user_id: userId })),

  /** For everybody who has the link. */
  findOfAnyByToken: async (tokenHash: string) => shares.findOne({ token_hash: tokenHash }).lean<ShareRecord>(),

  countView: async ({ _id, token_hash }: ShareRecord) =>
    shares.updateOne({ _id, token_hash }, { $inc: { views: 1 }, $set: { last_viewed_at: new Date() } }),
})
