import { addAll } from '../../domain/add-all.ts'
import { projectOf } from '../../domain/knowledge/project-files.ts'
import { spaceOwner } from '../../domain/knowledge/vector-space.ts'
import { type MemoryScope, memoryOwnerOf, scopeKey } from '../../domain/memory/memory-scope.ts'
import { type FileRecord, contentOf } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import { inBatches } from '../owned-data/data-store.ts'
import { type StoredContent, chunkStore } from '../stores/chunks.ts'
import { type SpaceFacts, spaceStore } from '../stores/vector-stores.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import { contentStore, orphanStore } from './store.ts'
import { deleteVectorsOfFile } from './vector-spaces.ts'
import type { VectorStore } from './vector-store.ts'

export interface SweepDeps {
  collections: KnowledgeCollections & Pick<Collections, 'users' | 'assistants' | 'projects' | 'memories' | 'threads'>
  blobs: Pick<BlobStore, 'listBefore' | 'delete'>
  vectors: Pick<VectorStore, 'listSpaces' | 'spacesOf' | 'listFiles' | 'deleteSpace' | 'deleteFile'>
}

/** Orphans of the knowledge base, which killed processes left behind. */
interface KnowledgeOrphans {
  /** Records of files whose owner is gone, and of uploads whose process died. */
  files: string[]
  /** Files whose chunks exist although their record is gone. */
  chunks: StoredContent[]
  blobs: string[]
  /** Without `fileId`, the whole space is an orphan. */
  vectors: { space: string; fileId?: string }[]
}

/** An upload renews its timestamp once a minute. */
const abandonedAfterMs = 60 * 60_000

/** Finds orphans; nothing younger than an hour is considered, because it may be under way. */
export async function findKnowledgeOrphans({ collections, blobs, vectors }: SweepDeps): Promise<KnowledgeOrphans> {
  const store = orphanStore(collections)
  const before = new Date(Date.now() - abandonedAfterMs)
  const orphans: KnowledgeOrphans = { files: [], chunks: [], blobs: [], vectors: [] }
  const isFile = contentStore(collections).isNamedOfAny

  for (const owner of await store.ownersOfAny(before))
    if (!(await store.isOwnerOfAny(owner))) addAll(orphans.files, await store.idsOwned(owner))
  for (const id of await store.abandonedIdsOfAny(before)) if (!orphans.files.includes(id)) orphans.files.push(id)

  for (const content of await chunkStore(collections).contentsOfAny())
    if (!(await isFile(content.contentId))) orphans.chunks.push(content)
  for await (const blobId of blobs.listBefore(before))
    if (!(await store.hasBlobOfAny(blobId))) orphans.blobs.push(blobId)
  for (const space of await vectors.listSpaces()) {
    const { assistantId, generation } = spaceOwner(space)
    const memory = memoryOwnerOf(assistantId)
    if (memory !== undefined) {
      addAll(orphans.vectors, await orphansOfMemory({ collections, vectors }, space, memory))
      continue
    }
    const assistant = await spaceStore(collections).find(assistantId)
    if (assistant === null || !isInUse(assistant, generation)) orphans.vectors.push({ space })
    else {
      for (const fileId of await vectors.listFiles(space)) {
        if (!(await isFile(fileId))) orphans.vectors.push({ space, fileId })
      }
    }
  }
  return orphans
}

/** The vectors of facts that are gone, or are shared with others than before. */
async function orphansOfMemory(
  { collections, vectors }: Pick<SweepDeps, 'collections'> & { vectors: Pick<VectorStore, 'listFiles'> },
  space: string,
  { kind, id }: Pick<MemoryScope, 'kind' | 'id'>,
): Promise<KnowledgeOrphans['vectors']> {
  const store = orphanStore(collections)
  if (!(await store.hasMemoryOwnerOfAny({ kind, id }))) return [{ space }]
  const key = scopeKey(kind === 'caller' ? { kind, id, caller: '' } : { kind, id })
  const found: KnowledgeOrphans['vectors'] = []
  for (const fileId of await vectors.listFiles(space)) {
    const scope = await store.scopeOfAny(fileId)
    if (scope === undefined || !(kind === 'caller' ? scope.startsWith(key) : scope === key))
      found.push({ space, fileId })
  }
  return found
}

/** The space that is searched, or that which is being filled. An earlier one was left by an interrupted change. */
function isInUse({ vector_generation: active = 0, reembedding }: SpaceFacts, generation: number): boolean {
  return generation === active || generation === reembedding?.generation
}

/** Removes what was found. Safe to repeat. */
export async function deleteKnowledgeOrphans(
  { collections, blobs, vectors }: SweepDeps,
  orphans: KnowledgeOrphans,
): Promise<void> {
  const store = orphanStore(collections)
  const chunks = chunkStore(collections)
  for (const { space, fileId } of orphans.vectors) {
    await (fileId === undefined ? vectors.deleteSpace(space) : vectors.deleteFile(space, fileId))
  }
  await blobs.delete(orphans.blobs)
  for (const content of orphans.chunks) await chunks.remove(content)
  await inBatches(orphans.files, async (ids) => {
    const records: FileRecord[] = []
    for (const record of await store.listOfAny(ids)) {
      const isArriving = record.status === 'uploading' && record.updated_at >= new Date(Date.now() - abandonedAfterMs)
      // The record goes first.
      if (!isArriving && (await store.removeUnchanged(record))) records.push(record)
    }
    for (const [assistantId, owned] of Map.groupBy(records, (record) => record.assistant_id)) {
      if (projectOf(assistantId) !== undefined) continue
      // Only files of an owner that is gone have copies: all of them go.
      const stored = [...new Set(owned.flatMap((record) => [record._id, contentOf(record)]))]
      for (const id of stored) await deleteVectorsOfFile(vectors, assistantId, id)
      await chunks.removeAll(assistantId, stored)
    }
    await blobs.delete(records.filter((record) => record.source_id === undefined).map((record) => record.blob_id))
  })
}
