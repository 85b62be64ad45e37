import { projectOwner } from '../../domain/knowledge/project-files.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import { countVectors, deleteSpaces } from './vector-spaces.ts'
import type { VectorStore } from './vector-store.ts'

export interface KnowledgeStores {
  collections: KnowledgeCollections
  blobs: Pick<BlobStore, 'deleteOf' | 'countOf'>
  vectors: Pick<VectorStore, 'spacesOf' | 'count' | 'deleteSpace'>
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
  await deleteSpaces(stores.vectors, assistantId)
  await chunks.deleteMany(owned)
  await stores.blobs.deleteOf(assistantId)
  await files.deleteMany(owned)
  // A step of an ingestion may have written between the first deletion and the removal of the file records.
  await deleteSpaces(stores.vectors, assistantId)
  await chunks.deleteMany(owned)
}

/**
 * Number of files, bytes, chunks and vectors of an assistant; all zeros prove a complete deletion. Chunks are counted
 * by the records of their files: in their own records only without reading them, and these hold many chunks each. So
 * the number is 0 only if none is stored.
 */
export async function countAssistantKnowledge(
  { collections, vectors, blobs }: KnowledgeStores,
  assistantId: string,
  kind: KnowledgeKind,
): Promise<number> {
  switch (kind) {
    case 'files':
      return collections.files.countDocuments({ assistant_id: assistantId })
    case 'chunks':
      return countAssistantChunks(collections, assistantId)
    case 'vectors':
      return countVectors(vectors, assistantId)
    case 'blobs':
      return blobs.countOf(assistantId)
  }
}

/** As above for the files that belong to a project itself. They have bytes, and no chunks and vectors. */
export async function deleteProjectFiles({ collections, blobs }: KnowledgeStores, projectId: string): Promise<void> {
  const owner = projectOwner(projectId)
  await blobs.deleteOf(owner)
  await collections.files.deleteMany({ assistant_id: owner })
}

export async function countProjectFiles(
  { collections, blobs }: KnowledgeStores,
  projectId: string,
  kind: KnowledgeKind,
): Promise<number> {
  const owner = projectOwner(projectId)
  if (kind === 'files') return collections.files.countDocuments({ assistant_id: owner })
  return kind === 'blobs' ? blobs.countOf(owner) : 0
}

async function countAssistantChunks({ chunks, files }: KnowledgeCollections, assistantId: string): Promise<number> {
  const groups = await chunks.countDocuments({ assistant_id: assistantId })
  if (groups === 0) return 0
  const [counted] = await files.aggregate<{ chunks: number }>([
    { $match: { assistant_id: assistantId } },
    { $group: { _id: null, chunks: { $sum: '$chunks' } } },
  ])
  return Math.max(groups, counted?.chunks ?? 0)
}
