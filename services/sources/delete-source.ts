import type { SourceRecord } from '../../domain/records/source.ts'
import type { Collections } from '../collections.ts'
import { fileStore } from '../stores/files.ts'
import { receiptStore } from '../stores/receipts.ts'
import { sourcePageStore, sourceStore } from '../stores/sources.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { RefreshTimetable } from './refresh-timetable.ts'
import { type SweepFilesDeps, sweepFiles } from './sweep-files.ts'

export interface DeleteSourceDeps extends SweepFilesDeps {
  collections: SweepFilesDeps['collections'] & Pick<Collections, 'receipts'>
  transaction: RunInTransaction
  refreshes: Pick<RefreshTimetable, 'remove'>
}

/** What the workflow of its deletion has to be told. */
export function deletionOfSource({ _id, assistant_id, user_id }: SourceRecord) {
  return { sourceId: _id, assistantId: assistant_id, userId: user_id }
}

/**
 * Removes a source with its pages, their files, chunks and vectors, and completes the receipt. Safe to repeat. False if
 * something is left.
 */
export async function deleteSource(deps: DeleteSourceDeps, sourceId: string, signal: AbortSignal): Promise<boolean> {
  const sources = sourceStore(deps.collections)
  const pages = sourcePageStore(deps.collections)
  const source = await sources.markDeletingOfAny(sourceId)
  if (source !== null) await openSourceReceipt(deps.collections, source)
  await deps.refreshes.remove(sourceId)
  await pages.removeAll(sourceId, deps.transaction)
  if ((await sweepFiles(deps, sourceId, signal)) > 0) return false
  const [fileCount, pageCount] = await Promise.all([
    fileStore(deps.collections).countOfSource(sourceId),
    pages.count(sourceId),
  ])
  if (fileCount + pageCount > 0) return false
  await sources.removeDeletingOfAny(sourceId)
  const left = { sources: await sources.countOfAny(sourceId), source_pages: pageCount, files: fileCount }
  await receiptStore(deps.collections).complete({ _id: sourceId, kind: 'source' }, left)
  return true
}

/** The receipt says what there was. An existing one is not changed. */
export async function openSourceReceipt(
  collections: Pick<Collections, 'receipts' | 'sourcePages' | 'files'>,
  { _id, user_id }: SourceRecord,
): Promise<void> {
  const found = {
    sources: 1,
    source_pages: await sourcePageStore(collections).count(_id),
    ...(await fileStore(collections).sumOfSource(_id)),
  }
  await receiptStore(collections).open({ _id, kind: 'source', subject_id: _id, user_id, found })
}
