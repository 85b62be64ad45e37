import type { DeletionKind, StoreCounts } from '../contracts/deletion.ts'

/** Proof of a deletion: what there was and what is left, counted in every store. It outlives what it tells of. */
export interface ReceiptRecord {
  _id: string
  kind: DeletionKind
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
