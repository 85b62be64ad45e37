import { AppError } from '../../domain/errors.ts'
import type { Collections } from '../collections.ts'
import { attachmentStore, bytesOf } from '../stores/attachments.ts'

export interface OpenedAttachment {
  name: string
  contentType: string
  bytes: Buffer
}

/** An image, a sound or a file of a message on a thread that its caller may read. Throws `not_found`. */
export async function openAttachment(
  collections: Pick<Collections, 'attachments'>,
  threadId: string,
  attachmentId: string,
): Promise<OpenedAttachment> {
  const record = await attachmentStore(collections).findInThread(threadId, attachmentId)
  if (record === null) throw new AppError('not_found', 'This thread has no such image, sound or file.')
  return { name: record.name, contentType: record.content_type, bytes: Buffer.from(bytesOf(record)) }
}
