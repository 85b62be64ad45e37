import { projectOwner } from '../../domain/knowledge/project-files.ts'
import { chunkStore } from '../stores/chunks.ts'
import { fileStore } from '../stores/files.ts'
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
  const chunks = chunkStore(stores.collections)
  await deleteSpaces(stores.vectors, assistantId)
  await chunks.removeOwned(assistantId)
  await stores.blobs.deleteOf(assistantId)
  await fileStore(stores.collections).removeOwned(assistantId)
  // A step of an ingestion may have written between the first deletion and the removal of the file records.
  await deleteSpaces(stores.vectors, assistantId)
  await chunks.removeOwned(assistantId)
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
      return fileStore(collections).countOwned(assistantId)
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
  await fileStore(collections).removeOwned(owner)
}

export async function countProjectFiles(
  { collections, blobs }: KnowledgeStores,
  projectId: string,
  kind: KnowledgeKind,
): Promise<number> {
  const owner = projectOwner(projectId)
  if (kind === 'files') return fileStore(collections).countOwned(owner)
  return kind === 'blobs' ? blobs.countOf(owner) : 0
}

async function countAssistantChunks(collections: KnowledgeCollections, assistantId: string): Promise<number> {
  const groups = await chunkStore(collections).countOwned(assistantId)
  return groups === 0 ? 0 : Math.max(groups, await fileStore(collections).sumChunks(assistantId))
}
