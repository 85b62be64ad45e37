import { type StoreCounts, deletionKinds } from '../contracts/deletion.ts'

/** A file is deleted in a way of its own: see `services/knowledge/delete-file.ts`. Its receipt has the id of the file. */
export const receiptKinds = [...deletionKinds, 'file'] as const
export type ReceiptKind = (typeof receiptKinds)[number]

/** Proof of a deletion: what there was and what is left, counted in every store. It outlives what it tells of. */
export interface ReceiptRecord {
  _id: string
  kind: ReceiptKind
  /** Id of what was deleted. */
  subject_id: string
  /** Whose it was. */
  user_id: string
  status: 'running' | 'complete' | 'failed'
  /** Counted after the fence, before anything was removed. */
  found: StoreCounts
  /** Counted last. */
  left: StoreCounts
  created_at: Date
  completed_at?: Date
}
