import type { FileRecord } from '../../domain/records/file.ts'
import type { BlobStore } from '../knowledge/blob-store.ts'
import { type RemovePartDeps, partOf, removePart } from '../knowledge/delete-file.ts'
import { fileStore } from '../stores/files.ts'
import { sourcePageStore } from '../stores/sources.ts'
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
  const files = fileStore(deps.collections)
  let left = 0
  for (let after = ''; ;) {
    signal.throwIfAborted()
    const found = await files.listOfSource(sourceId, after, filesAtOnce)
    const pages = await sourcePageStore(deps.collections).filesOf(found.flatMap(({ web }) => web?.page_id ?? []))
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
  const files = fileStore(deps.collections)
  await files.markFailing(file)
  const left = await removePart(deps, partOf(file))
  if (left.vectors + left.chunks > 0) return false
  await deps.blobs.delete([file.blob_id])
  await files.remove(file)
  return true
}
