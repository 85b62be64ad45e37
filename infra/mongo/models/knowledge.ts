import { type Connection, Schema } from 'mongoose'
import type { ChunkGroupRecord } from '../../../domain/records/chunk-group.ts'
import type { FileRecord } from '../../../domain/records/file.ts'
import { schemaOptions } from '../schema-options.ts'

const text = { type: String, required: true } as const
const maybeEmptyText = { type: String, default: '' } as const
const count = { type: Number, required: true } as const
const date = { type: Date, required: true } as const

const file = new Schema<FileRecord>(
  {
    _id: text,
    assistant_id: text,
    source_id: String,
    content_id: String,
    attributes_json: String,
    chunking: { type: new Schema({ max_tokens: count, overlap_tokens: count }, { _id: false }) },
    cancelled: Boolean,
    purpose: String,
    expires_at: Date,
    upload: {
      type: new Schema(
        { bytes: count, created_at: date, expires_after_seconds: Number, claimed_at: Date },
        { _id: false },
      ),
    },
    web: {
      type: new Schema({ source_id: text, page_id: text, url: text, title: String }, { _id: false }),
    },
    user_id: text,
    created_by: String,
    ingestion_id: text,
    order: count,
    name: maybeEmptyText,
    content_type: maybeEmptyText,
    size: count,
    sha256: maybeEmptyText,
    blob_id: text,
    status: text,
    error: String,
    retryable: Boolean,
    retries: Number,
    chunks: count,
    characters: count,
    extracted: { type: Boolean, required: true },
    has_scans: Boolean,
    scan: { type: new Schema({ pages: count, confidence: count, unreadable_pages: [Number] }, { _id: false }) },
    embedded: count,
    generation: Number,
    next: { type: new Schema({ generation: count, embedded: count }, { _id: false }) },
    created_at: date,
    updated_at: date,
  },
  schemaOptions('files'),
)
file.index({ assistant_id: 1, created_at: 1, order: 1, _id: 1 })
file.index({ ingestion_id: 1, order: 1, _id: 1 })
file.index({ status: 1, updated_at: 1 })
file.index({ user_id: 1 })
file.index({ blob_id: 1 })
file.index({ assistant_id: 1, sha256: 1 })
file.index({ content_id: 1 }, { partialFilterExpression: { content_id: { $exists: true } } })
// A vector store has each file once.
file.index(
  { source_id: 1, assistant_id: 1 },
  { unique: true, partialFilterExpression: { source_id: { $exists: true } } },
)
file.index({ 'web.source_id': 1, _id: 1 }, { partialFilterExpression: { 'web.source_id': { $exists: true } } })
file.index({ expires_at: 1 }, { partialFilterExpression: { expires_at: { $exists: true } } })

const chunk = new Schema<ChunkGroupRecord>(
  {
    _id: text,
    file_id: text,
    assistant_id: text,
    position: count,
    count,
    chunks_json: text,
  },
  schemaOptions('chunks'),
)
// One index for queries by assistant and by file: a second one was a third of the cost of storing a chunk.
chunk.index({ assistant_id: 1, file_id: 1, position: 1 })

export function knowledgeModels(connection: Connection) {
  return {
    files: connection.model<FileRecord>('File', file),
    chunks: connection.model<ChunkGroupRecord>('Chunk', chunk),
  }
}
