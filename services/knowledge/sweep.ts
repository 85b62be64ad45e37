import { addAll } from '../../domain/add-all.ts'
import { projectOf } from '../../domain/knowledge/project-files.ts'
import { spaceOwner } from '../../domain/knowledge/vector-space.ts'
import { type MemoryScope, memoryOwnerOf, scopeKey } from '../../domain/memory/memory-scope.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import type { Collections } from '../collections.ts'
import { inBatches } from '../owned-data/data-store.ts'
import type { BlobStore } from './blob-store.ts'
import type { KnowledgeCollections } from './collections.ts'
import { deleteVectorsOfFile } from './vector-spaces.ts'
import type { VectorStore } from './vector-store.ts'

export interface SweepDeps {
  collections: KnowledgeCollections & Pick<Collections, 'users' | 'assistants' | 'projects' | 'memories' | 'threads'>
  blobs: Pick<BlobStore, 'listBefore' | 'delete'>
  vectors: Pick<VectorStore, 'listSpaces' | 'spacesOf' | 'listFiles' | 'deleteSpace' | 'deleteFile'>
}

/** Orphans of the knowledge base, which killed processes left behind. */
export interface KnowledgeOrphans {
  /** Records of files whose owner is gone, and of uploads whose process died. */
  files: string[]
  /** Files whose chunks exist although their record is gone. */
  chunks: OwnedFile[]
  blobs: string[]
  /** Without `fileId`, the whole space is an orphan. */
  vectors: { space: string; fileId?: string }[]
}

interface OwnedFile {
  assistantId: string
  fileId: string
}

/** An upload renews its timestamp once a minute. */
const abandonedAfterMs = 60 * 60_000

/** Finds orphans; nothing younger than an hour is considered, because it may be under way. */
export async function findKnowledgeOrphans({ collections, blobs, vectors }: SweepDeps): Promise<KnowledgeOrphans> {
  const { assistants, files, chunks } = collections
  const before = new Date(Date.now() - abandonedAfterMs)
  const orphans: KnowledgeOrphans = { files: [], chunks: [], blobs: [], vectors: [] }
  const isOwner = async (id: string) => {
    const project = projectOf(id)
    if (project !== undefined) return (await collections.projects.exists({ _id: project })) !== null
    return (await assistants.exists({ _id: id })) !== null
  }
  const isFile = async (id: string) => (await files.exists({ _id: id })) !== null

  for (const assistantId of await files.distinct('assistant_id', { updated_at: { $lt: before } })) {
    if (await isOwner(assistantId)) continue
    const owned = await files.find({ assistant_id: assistantId }, { _id: 1 }).lean()
    addAll(
      orphans.files,
      owned.map((file) => file._id),
    )
  }
  const abandoned = await files.find({ status: 'uploading', updated_at: { $lt: before } }, { _id: 1 }).lean()
  for (const { _id } of abandoned) if (!orphans.files.includes(_id)) orphans.files.push(_id)

  const chunkOwners = chunks.aggregate<{ _id: OwnedFile }>([
    { $group: { _id: { assistantId: '$assistant_id', fileId: '$file_id' } } },
  ])
  for (const { _id: owner } of await chunkOwners) {
    if (!(await isFile(owner.fileId))) orphans.chunks.push(owner)
  }
  for await (const blobId of blobs.listBefore(before)) {
    if ((await files.exists({ blob_id: blobId })) === null) orphans.blobs.push(blobId)
  }
  for (const space of await vectors.listSpaces()) {
    const { assistantId, generation } = spaceOwner(space)
    const memory = memoryOwnerOf(assistantId)
    if (memory !== undefined) {
      addAll(orphans.vectors, await orphansOfMemory({ collections, vectors }, space, memory))
      continue
    }
    const assistant = await assistants.findById(assistantId, spaceMembers).lean<SpaceMembers>()
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
  const owners = { user: collections.users, project: collections.projects }
  const isThere =
    kind === 'user' || kind === 'project'
      ? await existsIn(owners[kind], id)
      : await existsIn(collections.assistants, id)
  if (!isThere) return [{ space }]
  const key = scopeKey(kind === 'caller' ? { kind, id, caller: '' } : { kind, id })
  const found: KnowledgeOrphans['vectors'] = []
  for (const fileId of await vectors.listFiles(space)) {
    const fact = await collections.memories.findById(fileId, { scope: 1 }).lean<Pick<MemoryRecord, 'scope'>>()
    if (fact === null || !(kind === 'caller' ? fact.scope.startsWith(key) : fact.scope === key))
      found.push({ space, fileId })
  }
  return found
}

async function existsIn(
  owners: { exists(filter: { _id: string }): PromiseLike<unknown> },
  id: string,
): Promise<boolean> {
  return (await owners.exists({ _id: id })) !== null
}

const spaceMembers = { vector_generation: 1, reembedding: 1 } as const
type SpaceMembers = Pick<AssistantRecord, keyof typeof spaceMembers>

/** The space that is searched, or that which is being filled. An earlier one was left by an interrupted change. */
function isInUse({ vector_generation: active = 0, reembedding }: SpaceMembers, generation: number): boolean {
  return generation === active || generation === reembedding?.generation
}

/** Removes what was found. Safe to repeat. */
export async function deleteKnowledgeOrphans(
  { collections, blobs, vectors }: SweepDeps,
  orphans: KnowledgeOrphans,
): Promise<void> {
  const { files, chunks } = collections
  for (const { space, fileId } of orphans.vectors) {
    await (fileId === undefined ? vectors.deleteSpace(space) : vectors.deleteFile(space, fileId))
  }
  await blobs.delete(orphans.blobs)
  for (const { assistantId, fileId } of orphans.chunks) {
    await chunks.deleteMany({ assistant_id: assistantId, file_id: fileId })
  }
  await inBatches(orphans.files, async (ids) => {
    const found = await files.find({ _id: { $in: ids } }).lean<FileRecord[]>()
    const records: FileRecord[] = []
    for (const record of found) {
      const { _id, status, blob_id, updated_at } = record
      // First, and only as it was read: an upload that goes on, or ends at this moment, keeps its bytes.
      if (status === 'uploading' && updated_at >= new Date(Date.now() - abandonedAfterMs)) continue
      if ((await files.deleteOne({ _id, status, blob_id, updated_at })).deletedCount > 0) records.push(record)
    }
    for (const [assistantId, owned] of Map.groupBy(records, (record) => record.assistant_id)) {
      if (projectOf(assistantId) !== undefined) continue
      for (const { _id } of owned) await deleteVectorsOfFile(vectors, assistantId, _id)
      await chunks.deleteMany({ assistant_id: assistantId, file_id: { $in: owned.map(({ _id }) => _id) } })
    }
    await blobs.delete(records.filter((record) => record.source_id === undefined).map((record) => record.blob_id))
  })
}
