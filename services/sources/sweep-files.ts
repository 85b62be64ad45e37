import type { FileRecord } from '../../domain/records/file.ts'
import type { SourcePageRecord } from '../../domain/records/source.ts'
import type { BlobStore } from '../knowledge/blob-store.ts'
import { type RemovePartDeps, partOf, removePart } from '../knowledge/delete-file.ts'
import type { SourceCollections } from './source-pages.ts'

export interface SweepFilesDeps extends RemovePartDeps {
  collections: SourceCollections
  blobs: Pick<BlobStore, 'delete'>
}

const filesAtOnce = 100

/**
 * Removes the files of a source that no page names: old texts, and those of pages that are gone, each with its chunks
 * and vectors. Returns how many are left after it, as the stores count them.
 */
export async function sweepFiles(deps: SweepFilesDeps, sourceId: string, signal: AbortSignal): Promise<number> {
  const { files, sourcePages } = deps.collections
  let left = 0
  for (let after = ''; ;) {
    signal.throwIfAborted()
    const found = await files
      .find({ 'web.source_id': sourceId, _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(filesAtOnce)
      .lean<FileRecord[]>()
    const pages = await sourcePages
      .find({ _id: { $in: found.flatMap(({ web }) => web?.page_id ?? []) } }, { file_id: 1, next_file_id: 1 })
      .lean<SourcePageRecord[]>()
    const named = new Set(pages.flatMap(({ file_id: file, next_file_id: next }) => [file, next]))
    for (const file of found) {
      if (named.has(file._id)) continue
      if (!(await eraseFile(deps, file))) left += 1
    }
    after = found.at(-1)?._id ?? ''
    if (found.length < filesAtOnce) return left
  }
}

/** Its record goes last, because the rest is found by it. False if something is left. */
async function eraseFile(deps: SweepFilesDeps, file: FileRecord): Promise<boolean> {
  const { files } = deps.collections
  // Steps of its ingestion stop.
  await files.updateOne({ _id: file._id }, { $set: { status: 'failing', updated_at: new Date() } })
  const left = await removePart(deps, partOf(file))
  if (left.vectors + left.chunks > 0) return false
  await deps.blobs.delete([file.blob_id])
  await files.deleteOne({ _id: file._id })
  return true
}
