import { memorySpaces } from '../../domain/memory/memory-scope.ts'
import type { Collections } from '../collections.ts'
import { eraseAll } from '../owned-data/erase-all.ts'
import { type Members, type Store, inBatches, sumOver } from '../owned-data/data-store.ts'
import { countVectors, deleteSpaces } from '../knowledge/vector-spaces.ts'
import type { VectorStore } from '../knowledge/vector-store.ts'
import type { RunInTransaction } from '../transactions.ts'

export interface MemoryStoresDeps {
  collections: Pick<Collections, 'memories'>
  transaction: RunInTransaction
  vectors: Pick<VectorStore, 'spacesOf' | 'deleteSpace' | 'count'>
}

/** What deletions remove of memories: the facts, and their vectors, which are found by the owners of their spaces. */
export function memoryStores({ collections: { memories }, transaction, vectors }: MemoryStoresDeps): Store[] {
  const vectorStore: Store = {
    name: 'memory_vectors',
    phase: 'contents',
    collections: [],
    async deleteFor(members) {
      for (const owner of spaceOwners(members)) await deleteSpaces(vectors, owner)
    },
    async countFor(members) {
      let total = 0
      for (const owner of spaceOwners(members)) total += await countVectors(vectors, owner)
      return total
    },
  }
  const records: Store = {
    name: 'memories',
    phase: 'contents',
    collections: ['memories'],
    async deleteFor({ userIds, projectIds, assistantIds }) {
      await inBatches(userIds, (ids) => eraseAll(transaction, memories, { user_id: { $in: ids } }))
      await inBatches(projectIds, (ids) => eraseAll(transaction, memories, { project_id: { $in: ids } }))
      await inBatches(assistantIds, (ids) => eraseAll(transaction, memories, { assistant_id: { $in: ids } }))
    },
    async countFor({ userIds, projectIds, assistantIds }) {
      if (userIds.length > 0) return sumOver(userIds, async (ids) => memories.countDocuments({ user_id: { $in: ids } }))
      const ofProjects = await sumOver(projectIds, async (ids) => memories.countDocuments({ project_id: { $in: ids } }))
      const ofAssistants = async (ids: string[]) => memories.countDocuments({ assistant_id: { $in: ids } })
      return ofProjects + (await sumOver(assistantIds, ofAssistants))
    },
  }
  // Records first: a fact that is being embedded finds its record gone, and removes the vector that it has just stored.
  return [records, vectorStore]
}

function spaceOwners({ userIds, projectIds, assistantIds }: Members): string[] {
  return [
    ...userIds.map((id) => memorySpaces({ kind: 'user', id })),
    ...projectIds.map((id) => memorySpaces({ kind: 'project', id })),
    ...assistantIds.flatMap((id) => [memorySpaces({ kind: 'assistant', id }), memorySpaces({ kind: 'caller', id })]),
  ]
}
