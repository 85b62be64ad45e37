/** The bytes of an image, a sound or a file in a message. It belongs to the message's thread. */
export interface AttachmentRecord {
  _id: string
  thread_id: string
  user_id: string
  /** As the caller named it; empty for images and sounds. */
  name: string
  content_type: string
  size: number
  /** Lower-case hexadecimal. */
  sha256: string
  /** The driver answers with a `Binary`, which has its bytes in `buffer`. */
  bytes: Buffer
  /** Code of an assistant has written it. */
  is_written?: boolean
  created_at: Date
}
