import { type StoreCounts, deletionKinds } from '../contracts/deletion.ts'

/**
 * Files have a deletion of their own: see `services/knowledge/delete-file.ts`. The receipt's id is the id of the
 * file. So have sources (`services/sources/delete-source.ts`).
 */
export const receiptKinds = [...deletionKinds, 'file', 'source'] as const
export type ReceiptKind = (typeof receiptKinds)[number]

/** What became of a shared project whose holder has deleted his account. */
export interface ProjectOutcome {
  project_id: string
  outcome: 'handed_over' | 'deleted'
  /** Who holds it now. */
  to?: string
}

/** The proof of a deletion: counts before and after, in every store. It is kept after the deletion. */
export interface ReceiptRecord {
  _id: string
  kind: ReceiptKind
  /** Id of what was deleted. */
  subject_id: string
  /** The owner of what was deleted. */
  user_id: string
  status: 'running' | 'complete' | 'failed'
  /** Counted after the deletion marker was set and before anything was removed. */
  found: StoreCounts
  /** Counted at the end. */
  left: StoreCounts
  /** Of an account: its projects that others use, too. */
  projects?: ProjectOutcome[]
  /** Of a file that became a copy when its deletion had been requested: under which id its chunks are stored. */
  content_id?: string
  /** What the deletion waits for before it removes anything; absent if nothing holds it up. */
  waiting_for?: 'payment_provider'
  created_at: Date
  completed_at?: Date
}
