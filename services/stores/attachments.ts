import type { AttachmentRecord } from '../../domain/records/attachment.ts'
import type { Collections } from '../collections.ts'
import { type PageQuery, storedPage } from '../cursor-page.ts'
import type { Page } from '../page.ts'

const listedMembers = { name: 1, size: 1, created_at: 1, is_written: 1 } as const
/** What a list of files shows. */
export type ListedAttachment = Pick<AttachmentRecord, '_id' | keyof typeof listedMembers>
const listedBytes = 1000

/** The driver gives binary data as an object around its bytes. */
export function bytesOf({ bytes }: Pick<AttachmentRecord, 'bytes'>): Uint8Array {
  return Buffer.isBuffer(bytes) ? bytes : new Uint8Array(Reflect.get(bytes, 'buffer'))
}

/** All statements on `attachments`. They belong to a thread, which was found as its owner's. */
export const attachmentStore = ({ attachments }: Pick<Collections, 'attachments'>) => ({
  hasOwned: async (userId: string, id: string) => (await attachments.exists({ _id: id, user_id: userId })) !== null,

  findInThread: async (threadId: string, id: string) =>
    attachments.findOne({ _id: id, thread_id: threadId }).lean<AttachmentRecord>(),

  /** The bytes alone. */
  async bytesInThread(threadId: string, id: string): Promise<Buffer | undefined> {
    const record = await attachments.findOne({ _id: id, thread_id: threadId }).lean<AttachmentRecord>()
    return record === null ? undefined : Buffer.from(bytesOf(record))
  },

  /** Those with names, the newest first. */
  listNamed: async (threadId: string, most: number) =>
    attachments
      .find({ thread_id: threadId, name: { $ne: '' } }, { name: 1, size: 1, sha256: 1 })
      .sort({ _id: -1 })
      .limit(most)
      .lean<Pick<AttachmentRecord, '_id' | 'name' | 'size' | 'sha256'>[]>(),

  /** The room that each takes in a container. */
  listSizes: async (threadId: string, most = 0) =>
    attachments
      .find({ thread_id: threadId }, { name: 1, size: 1, is_written: 1 })
      .limit(most)
      .lean<Pick<AttachmentRecord, '_id' | 'name' | 'size' | 'is_written'>[]>(),

  /** One with a name, by one of its ids. */
  findListed: async (threadId: string, ids: string[]) =>
    attachments
      .findOne({ _id: { $in: ids }, thread_id: threadId, name: { $ne: '' } }, listedMembers)
      .lean<ListedAttachment>(),

  pageListed(threadId: string, query: PageQuery, idsOf: (id: string) => string[]): Promise<Page<ListedAttachment>> {
    const own = { thread_id: threadId, name: { $ne: '' } }
    return storedPage(query, {
      find: async (id) =>
        attachments.findOne({ _id: { $in: idsOf(id) }, ...own }, { created_at: 1 }).lean<ListedAttachment>(),
      read: (range, sort) =>
        attachments
          .find({ ...own, ...range }, listedMembers)
          .sort(sort)
          .lean<ListedAttachment>(),
      bytesOf: () => listedBytes,
    })
  },

  listByName: async (threadId: string, names: string[]) =>
    attachments
      .find({ thread_id: threadId, name: { $in: names } }, { name: 1, sha256: 1 })
      .lean<Pick<AttachmentRecord, 'name' | 'sha256'>[]>(),

  /** Whether code has written any. */
  hasWritten: async (threadId: string) =>
    (await attachments.exists({ thread_id: threadId, is_written: true })) !== null,

  removeWritten: async (threadId: string) => attachments.deleteMany({ thread_id: threadId, is_written: true }),

  async sumBytes(userId: string): Promise<number> {
    const [sum] = await attachments.aggregate<{ bytes: number }>([
      { $match: { user_id: userId } },
      { $group: { _id: null, bytes: { $sum: '$size' } } },
    ])
    return sum?.bytes ?? 0
  },

  add: async (record: AttachmentRecord) => attachments.create([record]),

  removeOfThread: async (threadId: string) => attachments.deleteMany({ thread_id: threadId }),

  async remove(threadId: string, ids: string[]): Promise<void> {
    if (ids.length > 0) await attachments.deleteMany({ thread_id: threadId, _id: { $in: ids } })
  },
})
