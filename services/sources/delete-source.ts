import type { SourceRecord } from '../../domain/records/source.ts'
import type { Collections } from '../collections.ts'
import { eraseAll } from '../owned-data/erase-all.ts'
import { ownedStore } from '../owned-data/owned-store.ts'
import type { Store } from '../owned-data/data-store.ts'
import { timetableStore } from '../owned-data/timetable-store.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { RefreshTimetable } from './refresh-timetable.ts'
import type { RunInTransaction } from '../transactions.ts'
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
  const { sources, sourcePages, files, receipts } = deps.collections
  const source = await sources
    .findOneAndUpdate(
      { _id: sourceId },
      { $set: { deleting: true }, $unset: { crawl_id: 1 } },
      { returnDocument: 'after' },
    )
    .lean<SourceRecord>()
  if (source !== null) await openSourceReceipt(deps.collections, source)
  await deps.refreshes.remove(sourceId)
  await eraseAll(deps.transaction, sourcePages, { source_id: sourceId })
  if ((await sweepFiles(deps, sourceId, signal)) > 0) return false
  const [fileCount, pageCount] = await Promise.all([
    files.countDocuments({ 'web.source_id': sourceId }),
    sourcePages.countDocuments({ source_id: sourceId }),
  ])
  if (fileCount + pageCount > 0) return false
  await sources.deleteOne({ _id: sourceId, deleting: true })
  const left = { sources: await sources.countDocuments({ _id: sourceId }), source_pages: pageCount, files: fileCount }
  await receipts.updateOne(
    { _id: sourceId, kind: 'source' },
    { $set: { status: 'complete', left, completed_at: new Date() } },
  )
  return true
}

/** The receipt says what there was. An existing one is not changed. */
export async function openSourceReceipt(
  { receipts, sourcePages, files }: Pick<Collections, 'receipts' | 'sourcePages' | 'files'>,
  source: SourceRecord,
): Promise<void> {
  const { _id, user_id } = source
  const [sum] = await files.aggregate<{ files: number; chunks: number; vectors: number }>([
    { $match: { 'web.source_id': _id } },
    { $group: { _id: null, files: { $sum: 1 }, chunks: { $sum: '$chunks' }, vectors: { $sum: '$embedded' } } },
  ])
  const found = {
    sources: 1,
    source_pages: await sourcePages.countDocuments({ source_id: _id }),
    files: sum?.files ?? 0,
    chunks: sum?.chunks ?? 0,
    vectors: sum?.vectors ?? 0,
  }
  try {
    await receipts.create([
      { _id, kind: 'source', subject_id: _id, user_id, status: 'running', found, left: {}, created_at: new Date() },
    ])
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
}

/** Sources belong to their user, project and assistant. Their files are deleted with the assistant's. */
export function sourceStores({
  collections,
  transaction,
  refreshes,
}: {
  collections: Pick<Collections, 'sources' | 'sourcePages'>
  transaction: RunInTransaction
  refreshes: RefreshTimetable
}): Store[] {
  const { sources, sourcePages } = collections
  return [
    timetableStore({
      name: 'temporal_refreshes',
      records: sources,
      fields,
      stop: { $set: { deleting: true }, $unset: { crawl_id: 1 } },
      timetable: refreshes,
    }),
    ownedStore('sources', sources, fields, transaction),
    ownedStore('source_pages', sourcePages, fields, transaction),
  ]
}

/** Not their project: an assistant can be moved to another one. */
const fields = ['user_id', 'assistant_id'] as const
