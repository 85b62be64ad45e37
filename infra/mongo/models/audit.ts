import { type Connection, Schema } from 'mongoose'
import type { AuditEntryRecord } from '../../../domain/records/audit-entry.ts'
import { schemaOptions } from '../schema-options.ts'

const text = { type: String, required: true } as const
const date = { type: Date, required: true } as const

const auditEntry = new Schema<AuditEntryRecord>(
  {
    _id: text,
    key: text,
    user_id: String,
    actor: text,
    action: text,
    outcome: text,
    subjects: { type: [String], default: [] },
    client: String,
    user_agent: String,
    count: { type: Number, required: true },
    created_at: date,
    last_at: date,
    remove_at: date,
  },
  schemaOptions('audit_entries'),
)
auditEntry.index({ key: 1 }, { unique: true })
auditEntry.index({ user_id: 1, _id: 1 })
// For the operator, who may filter by action alone.
auditEntry.index({ action: 1, _id: 1 })
auditEntry.index({ remove_at: 1 }, { expireAfterSeconds: 0 })

export function auditModels(connection: Connection) {
  return { auditEntries: connection.model<AuditEntryRecord>('AuditEntry', auditEntry) }
}
