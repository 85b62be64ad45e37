import { type Connection, Schema } from 'mongoose'
import type { IdempotencyKeyRecord } from '../../../domain/records/idempotency-key.ts'
import { schemaOptions } from '../schema-options.ts'

const text = { type: String, required: true } as const
const date = { type: Date, required: true } as const

const idempotencyKey = new Schema<IdempotencyKeyRecord>(
  {
    _id: text,
    fingerprint: text,
    ids: { type: [String], required: true },
    lease: text,
    leased_until: date,
    outcome: String,
    answer: String,
    subjects: { type: [String], required: true },
    remove_at: date,
  },
  schemaOptions('idempotency_keys'),
)
idempotencyKey.index({ subjects: 1 })
idempotencyKey.index({ remove_at: 1 }, { expireAfterSeconds: 0 })

export function idempotencyModels(connection: Connection) {
  return { idempotencyKeys: connection.model<IdempotencyKeyRecord>('IdempotencyKey', idempotencyKey) }
}
