import { type Connection, Schema } from 'mongoose'
import type { ProjectOutcome, ReceiptRecord } from '../../../domain/records/receipt.ts'
import { schemaOptions } from '../schema-options.ts'

const text = { type: String, required: true } as const

const receipt = new Schema<ReceiptRecord>(
  {
    _id: text,
    kind: text,
    subject_id: text,
    user_id: text,
    status: text,
    found: { type: Schema.Types.Mixed, default: {} },
    left: { type: Schema.Types.Mixed, default: {} },
    projects: {
      type: [new Schema<ProjectOutcome>({ project_id: text, outcome: text, to: String }, { _id: false })],
      default: undefined,
    },
    content_id: String,
    waiting_for: String,
    created_at: { type: Date, required: true },
    completed_at: Date,
  },
  schemaOptions('receipts'),
)
receipt.index({ subject_id: 1, created_at: -1, _id: -1 })

export function deletionModels(connection: Connection) {
  return { receipts: connection.model<ReceiptRecord>('Receipt', receipt) }
}
