import { AppError } from '../../domain/errors.ts'
import type { AttachmentRecord } from '../../domain/records/attachment.ts'
import type { Collections } from '../collections.ts'
import { bytesOf } from './prompt-parts.ts'

export interface OpenedAttachment {
  name: string
  contentType: string
  bytes: Buffer
}

/** An image, a sound or a file of a message on a thread that its caller may read. Throws `not_found`. */
export async function openAttachment(
  { attachments }: Pick<Collections, 'attachments'>,
  threadId: string,
  attachmentId: string,
): Promise<OpenedAttachment> {
  const record = await attachments.findOne({ _id: attachmentId, thread_id: threadId }).lean<AttachmentRecord>()
  if (record === null) throw new AppError('not_found', 'This thread has no such image, sound or file.')
  return { name: record.name, contentType: record.content_type, bytes: Buffer.from(bytesOf(record)) }
}
