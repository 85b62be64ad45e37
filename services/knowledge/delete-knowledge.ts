import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import type { VectorStore } from './vector-store.ts'

export interface KnowledgeStores {
  collections: KnowledgeCollections
  blobs: Pick<BlobStore, 'deleteOf' | 'countOf'>
  vectors: Pick<VectorStore, 'count' | 'deleteAssistant'>
}

export const knowledgeKinds = ['files', 'chunks', 'vectors', 'blobs'] as const
type KnowledgeKind = (typeof knowledgeKinds)[number]

/**
 * Removes all files, bytes, chunks and vectors of an assistant, each found by the owner that its own store records.
 * Safe to repeat and to resume. Steps of an ingestion under way find their file gone, remove what they have just
 * written, and stop.
 */
export async function deleteAssistantKnowledge(stores: KnowledgeStores, assistantId: string): Promise<void> {
  const { files, chunks } = stores.collections
  const owned = { assistant_id: assistantId }
  await stores.vectors.deleteAssistant(assistantId)
  await chunks.deleteMany(owned)
  await stores.blobs.deleteOf(assistantId)
  await files.deleteMany(owned)
  // A step of an ingestion may have written between the first deletion and the removal of the file records.
  await stores.vectors.deleteAssistant(assistantId)
  await chunks.deleteMany(owned)
}

/** Number of files, bytes, chunks and vectors of an assistant; all zeros prove a complete deletion. */
export async function countAssistantKnowledge(
  { collections, vectors, blobs }: KnowledgeStores,
  assistantId: string,
  kind: KnowledgeKind,
): Promise<number> {
  switch (kind) {
    case 'files':
      return collections.files.countDocuments({ assistant_id: assistantId })
    case 'chunks':
      return collections.chunks.countDocuments({ assistant_id: assistantId })
    case 'vectors':
      return vectors.count(assistantId)
    case 'blobs':
      return blobs.countOf(assistantId)
  }
}
