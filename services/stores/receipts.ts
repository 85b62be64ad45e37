import type { StoreCounts } from '../../domain/contracts/deletion.ts'
import type { ReceiptRecord } from '../../domain/records/receipt.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'

/** Statements on `receipts`, which are named by what is deleted, or by their own id. */
export const receiptStore = ({ receipts }: Pick<Collections, 'receipts'>) => ({
  /** Of a deletion that is under way. An existing one is not changed. */
  async open(receipt: Omit<ReceiptRecord, 'status' | 'left' | 'created_at'>): Promise<void> {
    await isNew(receipts.create([{ ...receipt, status: 'running', left: {}, created_at: new Date() }]))
  },

  complete: async ({ _id, kind }: Pick<ReceiptRecord, '_id' | 'kind'>, left: StoreCounts) =>
    receipts.updateOne({ _id, kind }, { $set: { status: 'complete', left, completed_at: new Date() } }),

  /** Under which id the chunks and vectors of a deleted file are stored. */
  noteContent: async ({ _id, kind }: Pick<ReceiptRecord, '_id' | 'kind'>, contentId: string) =>
    receipts.updateOne({ _id, kind }, { $set: { content_id: contentId } }),

  contentOfAny: async (id: string) =>
    (await receipts.findById(id, { content_id: 1 }).lean<Pick<ReceiptRecord, 'content_id'>>())?.content_id,

  existsOfAny: async (id: string) => (await receipts.exists({ _id: id })) !== null,

  /** Whether such a deletion of a user is under way. */
  isRunning: async (userId: string, { _id, kind }: Pick<ReceiptRecord, '_id' | 'kind'>) =>
    (await receipts.exists({ _id, kind, user_id: userId, status: 'running' })) !== null,
})
