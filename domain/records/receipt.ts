import Type, { type Static } from 'typebox'
import { type StoreCounts, deletionKinds } from '../contracts/deletion.ts'
import { type RecordOf, StoredId, StoredTime, declareRecord, mixedOf } from './declared-record.ts'

/**
 * Files have a deletion of their own: see `services/knowledge/delete-file.ts`. The receipt's id is the id of the
 * file. So have sources (`services/sources/delete-source.ts`).
 */
export const receiptKinds = [...deletionKinds, 'file', 'source'] as const

/** What became of a shared project whose holder has deleted his account. */
const ProjectOutcome = Type.Object({
  project_id: StoredId,
  outcome: Type.Enum(['handed_over', 'deleted']),
  /** Who holds it now. */
  to: Type.Optional(StoredId),
})
export type ProjectOutcome = Static<typeof ProjectOutcome>

/** The proof of a deletion: counts before and after, in every store. It is kept after the deletion. */
const Receipt = Type.Object({
  _id: StoredId,
  kind: Type.Enum(receiptKinds),
  /** Id of what was deleted. */
  subject_id: StoredId,
  /** The owner of what was deleted. */
  user_id: StoredId,
  status: Type.Enum(['running', 'complete', 'failed']),
  /** Counted after the deletion marker was set and before anything was removed. */
  found: mixedOf<StoreCounts>(),
  /** Counted at the end. */
  left: mixedOf<StoreCounts>(),
  /** Of an account: its projects that others use, too. */
  projects: Type.Optional(Type.Array(ProjectOutcome)),
  /** Of a file that became a copy when its deletion had been requested: under which id its chunks are stored. */
  content_id: Type.Optional(StoredId),
  /** What the deletion waits for before it removes anything; absent if nothing holds it up. */
  waiting_for: Type.Optional(Type.Enum(['payment_provider'])),
  created_at: StoredTime,
  completed_at: Type.Optional(StoredTime),
})

export const receiptRecord = declareRecord({
  model: 'Receipt',
  collection: 'receipts',
  schema: Receipt,
  owners: [],
  indexes: [[{ subject_id: 1, created_at: -1, _id: -1 }]],
  archive: undefined,
})
export type ReceiptRecord = RecordOf<typeof receiptRecord>
