import type { FileDeletionInput } from '../../domain/contracts/file-deletion.ts'
import { ingestionContract } from '../../domain/contracts/ingestion.ts'
import type { StoreCounts } from '../../domain/contracts/deletion.ts'
import { projectOf } from '../../domain/knowledge/project-files.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import { ingestionOf } from './ingestion-of.ts'
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
  ingestionId: string | undefined
}

/**
 * Removes a file with its bytes, chunks and vectors, and its entries in vector stores with theirs; counts what is left,
 * and completes the receipt. Safe to repeat. False if something is left, for example after a late write of an ingestion.
 */
export async function deleteFile(deps: DeleteFileDeps, input: FileDeletionInput): Promise<boolean> {
  const { files, receipts } = deps.collections
  const { assistantId, fileId, blobId, ingestionId } = input
  const record = await files.findById(fileId).lean<FileRecord>()
  const entries = await files.find({ source_id: fileId }).lean<FileRecord[]>()
  if (record) await openReceipt(deps.collections, [record, ...entries], input.userId ?? record.user_id)
  // The record is removed first: from then on, every step of its ingestion finds the file gone. Entries are needed to
  // find their chunks and vectors: they only stop their ingestions, and are removed at the end.
  await files.deleteOne({ _id: fileId })
  const ofEntries = { source_id: fileId }
  await files.updateMany(ofEntries, { $set: { status: 'failing', updated_at: new Date() } })
  const parts = [{ assistantId, fileId, ingestionId }, ...entries.map(partOf)]
  let [vectorCount, chunkCount] = [0, 0]
  for (const part of parts) {
    const left = await removePart(deps, part)
    vectorCount += left.vectors
    chunkCount += left.chunks
  }
  if (blobId !== undefined) await deps.blobs.delete([blobId])
  if (vectorCount + chunkCount === 0)
    await files.deleteMany({ ...ofEntries, _id: { $in: entries.map((entry) => entry._id) } })
  const [fileCount, hasBytes] = await Promise.all([
    files.countDocuments({ $or: [{ _id: fileId }, ofEntries] }),
    blobId === undefined ? false : deps.blobs.exists(blobId),
  ])
  const left: StoreCounts = { files: fileCount, vectors: vectorCount, chunks: chunkCount, blobs: Number(hasBytes) }
  if (Object.values(left).some((count) => count > 0)) return false
  const complete = { status: 'complete', left, completed_at: new Date() } as const
  await receipts.updateOne({ _id: fileId, kind: 'file' }, { $set: complete })
  return true
}

export function partOf(entry: FileRecord): Part {
  return { assistantId: entry.assistant_id, fileId: entry._id, ingestionId: ingestionOf(entry) }
}

/** What is left of the part. */
export async function removePart(
  { collections: { chunks }, vectors, workflows }: RemovePartDeps,
  { assistantId, fileId, ingestionId }: Part,
): Promise<{ vectors: number; chunks: number }> {
  // A project's own files have bytes only.
  if (projectOf(assistantId) !== undefined) return { vectors: 0, chunks: 0 }
  if (ingestionId !== undefined) await workflows.signal(ingestionContract, { ingestionId }, 'fileDeleted', { fileId })
  await deleteVectorsOfFile(vectors, assistantId, fileId)
  const ofFile = { assistant_id: assistantId, file_id: fileId }
  await chunks.deleteMany(ofFile)
  const [vectorCount, chunkCount] = await Promise.all([
    countVectors(vectors, assistantId, fileId),
    chunks.countDocuments(ofFile),
  ])
  return { vectors: vectorCount, chunks: chunkCount }
}

/** The receipt copies what the records of the file and its entries said. An existing receipt is not changed. */
export async function openReceipt(
  { receipts }: Pick<Collections, 'receipts'>,
  [file, ...entries]: [FileRecord, ...FileRecord[]],
  userId: string,
): Promise<void> {
  const all = [file, ...entries]
  const sum = (of: (record: FileRecord) => number) => all.reduce((total, record) => total + of(record), 0)
  const found = {
    files: all.length,
    vectors: sum(({ embedded }) => embedded),
    chunks: sum(({ chunks }) => chunks),
    blobs: all.filter(({ source_id: source }) => source === undefined).length,
  }
  try {
    await receipts.create([
      {
        _id: file._id,
        kind: 'file',
        subject_id: file._id,
        user_id: userId,
        status: 'running',
        found,
        left: {},
        created_at: new Date(),
      },
    ])
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
}
