import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import type { VectorStore } from './vector-store.ts'

export interface KnowledgeStores {
  collections: KnowledgeCollections
  blobs: Pick<BlobStore, 'delete' | 'count'>
  vectors: Pick<VectorStore, 'count' | 'deleteAssistant' | 'deleteFile'>
}

/** What there is of an assistant's knowledge in each store. */
export interface KnowledgeCounts {
  files: number
  chunks: number
  vectors: number
  blobs: number
}

/**
 * Removes everything that an assistant knows, from every store, and says what it removed. Safe to
 * repeat and to resume: the file records, which know where the bytes are, go last. Steps of an
 * ingestion that is under way find their file gone and stop, removing what they had just written.
 */
export async function deleteAssistantKnowledge(stores: KnowledgeStores, assistantId: string): Promise<KnowledgeCounts> {
  const before = await countAssistantKnowledge(stores, assistantId)
  const { files, chunks } = stores.collections
  await stores.vectors.deleteAssistant(assistantId)
  await chunks.deleteMany({ assistant_id: assistantId })
  for await (const file of files.find({ assistant_id: assistantId }, { blob_id: 1 }).lean().cursor()) {
    await stores.blobs.delete(file.blob_id)
    await files.deleteOne({ _id: file._id })
  }
  // A step of an ingestion may have written between the first deletion and the file records' end.
  await stores.vectors.deleteAssistant(assistantId)
  await chunks.deleteMany({ assistant_id: assistantId })
  return before
}

/** Counts an assistant's knowledge in every store; all zeros is the proof of a complete deletion. */
export async function countAssistantKnowledge(stores: KnowledgeStores, assistantId: string): Promise<KnowledgeCounts> {
  const records = await stores.collections.files.find({ assistant_id: assistantId }, { blob_id: 1 }).lean()
  const [chunks, vectors, blobs] = await Promise.all([
    stores.collections.chunks.countDocuments({ assistant_id: assistantId }),
    stores.vectors.count(assistantId),
    stores.blobs.count(records.map((record) => record.blob_id)),
  ])
  return { files: records.length, chunks, vectors, blobs }
}
