import type { StoreCounts } from '../../domain/contracts/deletion.ts'
import type { FileDeletionInput } from '../../domain/contracts/file-deletion.ts'
import { ingestionContract } from '../../domain/contracts/ingestion.ts'
import { projectOf } from '../../domain/knowledge/project-files.ts'
import { type FileRecord, contentOf } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import { chunkStore } from '../stores/chunks.ts'
import { fileStore } from '../stores/files.ts'
import { receiptStore } from '../stores/receipts.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import { ingestionOf } from './ingestion-of.ts'
import { contentStore, deletedFileStore } from './store.ts'
import { countVectors, deleteVectorsOfFile } from './vector-spaces.ts'
import type { VectorStore } from './vector-store.ts'

export interface DeleteFileDeps {
  collections: KnowledgeCollections & Pick<Collections, 'receipts'>
  blobs: Pick<BlobStore, 'delete' | 'exists'>
  vectors: Pick<VectorStore, 'spacesOf' | 'count' | 'deleteFile'>
  workflows: Pick<WorkflowClient, 'signal'>
}

export interface RemovePartDeps extends Pick<DeleteFileDeps, 'vectors' | 'workflows'> {
  collections: KnowledgeCollections
}

/** Chunks and vectors of a file, and the ingestion that may be making them. */
interface Part {
  assistantId: string
  fileId: string
  /** Under which they are stored. */
  contentId: string
  ingestionId: string | undefined
}

/**
 * Removes a file with its bytes, chunks and vectors, and its entries in vector stores with theirs; counts what is left,
 * and completes the receipt. Safe to repeat. False if something is left, for example after a late write of an ingestion.
 */
export async function deleteFile(deps: DeleteFileDeps, input: FileDeletionInput): Promise<boolean> {
  const files = deletedFileStore(deps.collections)
  const receipts = receiptStore(deps.collections)
  const receipt = { _id: input.fileId, kind: 'file' } as const
  const { assistantId, fileId, blobId, ingestionId } = input
  const { record, entries } = await files.endIngestionsOfAny(fileId)
  // An earlier attempt may have removed the record.
  const contentId =
    record === null ? ((await receipts.contentOfAny(fileId)) ?? input.contentId ?? fileId) : contentOf(record)
  if (record) {
    await openReceipt(deps.collections, [record, ...entries], input.userId ?? record.user_id)
    // The deletion was requested before it became a copy.
    if (record.content_id !== input.contentId) await receipts.noteContent(receipt, contentId)
  }
  // The record is removed before the rest: from then on, every step of its ingestion finds the file gone. Entries are
  // needed to find their chunks and vectors: they only stop their ingestions, and are removed at the end.
  await fileStore(deps.collections).remove({ _id: fileId })
  const parts = [{ assistantId, fileId, contentId, ingestionId }, ...entries.map(partOf)]
  let [vectorCount, chunkCount] = [0, 0]
  for (const part of parts) {
    const left = await removePart(deps, part)
    vectorCount += left.vectors
    chunkCount += left.chunks
  }
  if (blobId !== undefined) await deps.blobs.delete([blobId])
  if (vectorCount + chunkCount === 0) await files.removeEntriesOfAny(fileId, entries)
  const [fileCount, hasBytes] = await Promise.all([
    files.countOfAny(fileId),
    blobId === undefined ? false : deps.blobs.exists(blobId),
  ])
  const left: StoreCounts = { files: fileCount, vectors: vectorCount, chunks: chunkCount, blobs: Number(hasBytes) }
  if (Object.values(left).some((count) => count > 0)) return false
  await receipts.complete(receipt, left)
  return true
}

export function partOf(entry: FileRecord): Part {
  const [assistantId, ingestionId] = [entry.assistant_id, ingestionOf(entry)]
  return { assistantId, fileId: entry._id, contentId: contentOf(entry), ingestionId }
}

/** What is left of the part. What copies of the file use stays, and does not count: its record is gone, or `failing`. */
export async function removePart(
  { collections, vectors, workflows }: RemovePartDeps,
  { assistantId, fileId, contentId, ingestionId }: Part,
): Promise<{ vectors: number; chunks: number }> {
  // A project's own files have bytes only.
  if (projectOf(assistantId) !== undefined) return { vectors: 0, chunks: 0 }
  if (ingestionId !== undefined) await workflows.signal(ingestionContract, { ingestionId }, 'fileDeleted', { fileId })
  const chunks = chunkStore(collections)
  const left = { vectors: 0, chunks: 0 }
  // A copy has something under its own id if an attempt to read it was cut off before it became one.
  for (const id of new Set([contentId, fileId])) {
    const stored = { assistantId, contentId: id }
    if (await contentStore(collections).isShared(stored)) continue
    await deleteVectorsOfFile(vectors, assistantId, id)
    await chunks.remove(stored)
    const [vectorCount, chunkCount] = await Promise.all([countVectors(vectors, assistantId, id), chunks.count(stored)])
    left.vectors += vectorCount
    left.chunks += chunkCount
  }
  return left
}

/**
 * The receipt copies what the records of the file and its entries said, without what copies still use. An existing receipt
 * is not changed.
 */
export async function openReceipt(
  { receipts, files }: Pick<Collections, 'receipts' | 'files'>,
  [file, ...entries]: [FileRecord, ...FileRecord[]],
  userId: string,
): Promise<void> {
  const all = [file, ...entries]
  const own: FileRecord[] = []
  for (const record of all) {
    const content = { assistantId: record.assistant_id, contentId: contentOf(record), except: record._id }
    if (!(await contentStore({ files }).isShared(content))) own.push(record)
  }
  const sum = (of: (record: FileRecord) => number) => own.reduce((total, record) => total + of(record), 0)
  const found = {
    files: all.length,
    vectors: sum(({ embedded }) => embedded),
    chunks: sum(({ chunks }) => chunks),
    blobs: all.filter(({ source_id: source }) => source === undefined).length,
  }
  await receiptStore({ receipts }).open({ _id: file._id, kind: 'file', subject_id: file._id, user_id: userId, found })
}
