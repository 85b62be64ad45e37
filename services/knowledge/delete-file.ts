import type { FileDeletionInput } from '../../domain/contracts/file-deletion.ts'
import { ingestionContract } from '../../domain/contracts/ingestion.ts'
import type { StoreCounts } from '../../domain/contracts/deletion.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import { countVectors, deleteVectorsOfFile } from './vector-spaces.ts'
import type { VectorStore } from './vector-store.ts'

export interface DeleteFileDeps {
  collections: KnowledgeCollections & Pick<Collections, 'receipts'>
  blobs: Pick<BlobStore, 'delete' | 'exists'>
  vectors: Pick<VectorStore, 'spacesOf' | 'count' | 'deleteFile'>
  workflows: Pick<WorkflowClient, 'signal'>
}

/**
 * Removes a file with its bytes, chunks and vectors, counts what is left, and completes its receipt. Safe to
 * repeat. False if something is left, for example after a late write of its ingestion.
 */
export async function deleteFile(deps: DeleteFileDeps, input: FileDeletionInput): Promise<boolean> {
  const { files, chunks, receipts } = deps.collections
  const { assistantId, fileId, blobId, ingestionId } = input
  const record = await files.findById(fileId).lean<FileRecord>()
  if (record) await openReceipt(deps.collections, record, input.userId ?? record.user_id)
  // The record is removed first: from then on, every step of its ingestion finds the file gone.
  await files.deleteOne({ _id: fileId })
  if (ingestionId !== undefined)
    await deps.workflows.signal(ingestionContract, { ingestionId }, 'fileDeleted', { fileId })
  await deleteVectorsOfFile(deps.vectors, assistantId, fileId)
  const ofFile = { assistant_id: assistantId, file_id: fileId }
  await chunks.deleteMany(ofFile)
  await deps.blobs.delete([blobId])
  const [fileCount, vectorCount, chunkCount, hasBytes] = await Promise.all([
    files.countDocuments({ _id: fileId }),
    countVectors(deps.vectors, assistantId, fileId),
    chunks.countDocuments(ofFile),
    deps.blobs.exists(blobId),
  ])
  const left: StoreCounts = { files: fileCount, vectors: vectorCount, chunks: chunkCount, blobs: Number(hasBytes) }
  if (Object.values(left).some((count) => count > 0)) return false
  const complete = { status: 'complete', left, completed_at: new Date() } as const
  await receipts.updateOne({ _id: fileId, kind: 'file' }, { $set: complete })
  return true
}

/** The receipt copies what the file's record said. An existing receipt is not changed. */
export async function openReceipt(
  { receipts }: Pick<Collections, 'receipts'>,
  { _id, chunks, embedded }: FileRecord,
  userId: string,
): Promise<void> {
  try {
    await receipts.create([
      {
        _id,
        kind: 'file',
        subject_id: _id,
        user_id: userId,
        status: 'running',
        found: { files: 1, vectors: embedded, chunks, blobs: 1 },
        left: {},
        created_at: new Date(),
      },
    ])
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
}
