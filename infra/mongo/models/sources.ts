import { type Connection, Schema } from 'mongoose'
import type { SourcePageRecord, SourceRecord } from '../../../domain/records/source.ts'
import { schemaOptions } from '../schema-options.ts'

const text = { type: String, required: true } as const
const count = { type: Number, required: true } as const
const date = { type: Date, required: true } as const

const source = new Schema<SourceRecord>(
  {
    _id: text,
    user_id: text,
    assistant_id: text,
    type: text,
    url: text,
    moved_to: String,
    max_depth: count,
    max_pages: count,
    include: { type: [String], required: true },
    exclude: { type: [String], required: true },
    refresh: { type: new Schema({ cron: String, timezone: String, interval_seconds: Number }, { _id: false }) },
    status: text,
    error: String,
    round: count,
    crawl_id: String,
    alive_at: Date,
    bytes: count,
    ignored: count,
    crawled_at: Date,
    revision: count,
    check_at: date,
    deleting: Boolean,
    created_at: date,
    imported_at: Date,
    updated_at: date,
  },
  schemaOptions('sources'),
)
source.index({ user_id: 1 })
source.index({ assistant_id: 1, _id: 1 })
source.index({ check_at: 1 })

const page = new Schema<SourcePageRecord>(
  {
    _id: text,
    source_id: text,
    user_id: text,
    assistant_id: text,
    url: text,
    kind: text,
    depth: count,
    order: count,
    round: count,
    status: text,
    reason: String,
    file_id: String,
    next_file_id: String,
    title: String,
    etag: String,
    last_modified: String,
    sha256: String,
    same_as: String,
    is_awaited: Boolean,
    listed_by: { type: [String], default: undefined },
    unlisted: Boolean,
    query_of: String,
    tries: count,
    taken: count,
    fetched_at: Date,
  },
  schemaOptions('source_pages'),
)
page.index({ source_id: 1, status: 1, depth: 1, order: 1, _id: 1 })
page.index({ source_id: 1, depth: 1, order: 1, _id: 1 })
page.index({ source_id: 1, sha256: 1 }, { partialFilterExpression: { sha256: { $exists: true } } })
page.index({ source_id: 1, query_of: 1 }, { partialFilterExpression: { query_of: { $exists: true } } })
page.index({ user_id: 1 })
page.index({ assistant_id: 1 })

export function sourceModels(connection: Connection) {
  return {
    sources: connection.model<SourceRecord>('Source', source),
    sourcePages: connection.model<SourcePageRecord>('SourcePage', page),
  }
}
