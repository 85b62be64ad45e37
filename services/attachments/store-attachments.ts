import type { RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { attachmentStore } from '../stores/attachments.ts'
import type { NewAttachment } from './receive-content.ts'

/** Stores the bytes of a run's input under its thread. */
export async function storeAttachments(
  collections: Pick<Collections, 'attachments'>,
  { thread_id, user_id, created_at }: Pick<RunRecord, 'thread_id' | 'user_id' | 'created_at'>,
  given: NewAttachment[],
): Promise<void> {
  // One at a time: a statement carries at most 48 MB.
  for (const attachment of given)
    await attachmentStore(collections).add({ ...attachment, thread_id, user_id, created_at })
}

export async function removeAttachments(
  collections: Pick<Collections, 'attachments'>,
  { thread_id: threadId }: Pick<RunRecord, 'thread_id'>,
  given: NewAttachment[],
): Promise<void> {
  await attachmentStore(collections).remove(
    threadId,
    given.map(({ _id }) => _id),
  )
}

/** Stores bytes before what needs them, and removes them if that fails. */
export async function withAttachments<T>(
  collections: Pick<Collections, 'attachments'>,
  place: Pick<RunRecord, 'thread_id' | 'user_id' | 'created_at'>,
  { given, work }: { given: NewAttachment[]; work: () => Promise<T> },
): Promise<T> {
  try {
    await storeAttachments(collections, place, given)
    return await work()
  } catch (error) {
    await removeAttachments(collections, place, given)
    throw error
  }
}
