import { type Connection, Schema } from 'mongoose'
import type { MemoryRecord } from '../../../domain/records/memory.ts'
import { schemaOptions } from '../schema-options.ts'

const text = { type: String, required: true } as const
const date = { type: Date, required: true } as const

const memory = new Schema<MemoryRecord>(
  {
    _id: text,
    user_id: text,
    scope: text,
    project_id: String,
    assistant_id: String,
    caller: String,
    text,
    text_hash: text,
    source_message_id: String,
    run_id: String,
    made_by: text,
    embedded_with: String,
    refused_by: String,
    expires_at: Date,
    deleting: Boolean,
    created_at: date,
    updated_at: date,
  },
  schemaOptions('memories'),
)
memory.index({ scope: 1, text_hash: 1 }, { unique: true })
memory.index({ user_id: 1, _id: -1 })
memory.index({ assistant_id: 1 })
memory.index({ project_id: 1 })
memory.index({ run_id: 1 })
memory.index({ embedded_with: 1 })
memory.index({ expires_at: 1 }, { partialFilterExpression: { expires_at: { $exists: true } } })
memory.index({ deleting: 1 }, { partialFilterExpression: { deleting: true } })

export function memoryModels(connection: Connection) {
  return { memories: connection.model<MemoryRecord>('Memory', memory) }
}
