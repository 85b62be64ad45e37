import { type Connection, Schema } from 'mongoose'
import type { AttachmentRecord } from '../../../domain/records/attachment.ts'
import { schemaOptions } from '../schema-options.ts'

const text = { type: String, required: true } as const

const attachment = new Schema<AttachmentRecord>(
  {
    _id: text,
    thread_id: text,
    user_id: text,
    name: { type: String, default: '' },
    content_type: text,
    size: { type: Number, required: true },
    sha256: text,
    bytes: { type: Buffer, required: true },
    is_written: Boolean,
    created_at: { type: Date, required: true },
  },
  schemaOptions('attachments'),
)
attachment.index({ thread_id: 1, _id: 1 })
// With the size, the sum for the storage quota is made from the index alone.
attachment.index({ user_id: 1, size: 1 })

export function attachmentModels(connection: Connection) {
  return { attachments: connection.model<AttachmentRecord>('Attachment', attachment) }
}
