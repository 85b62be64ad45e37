import Type from 'typebox'
import { type RecordOf, StoredBytes, StoredId, StoredTime, declareRecord } from './declared-record.ts'

/** The bytes of an image, a sound or a file in a message. It belongs to the message's thread. */
const Attachment = Type.Object({
  _id: StoredId,
  thread_id: StoredId,
  user_id: StoredId,
  /** As the caller named it; empty for images and sounds. */
  name: Type.String(),
  content_type: Type.String({ minLength: 1 }),
  size: Type.Integer(),
  /** Lower-case hexadecimal. */
  sha256: Type.String({ minLength: 1 }),
  bytes: StoredBytes,
  /** Code of an assistant has written it. */
  is_written: Type.Optional(Type.Boolean()),
  created_at: StoredTime,
})

export const attachmentRecord = declareRecord({
  model: 'Attachment',
  collection: 'attachments',
  schema: Attachment,
  owners: ['thread_id'],
  indexes: [
    [{ thread_id: 1, _id: 1 }],
    // With the size, the sum for the storage quota is made from the index alone.
    [{ user_id: 1, size: 1 }],
  ],
  archive: undefined,
})
export type AttachmentRecord = RecordOf<typeof attachmentRecord>
