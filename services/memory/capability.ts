import { memorySpaces } from '../../domain/memory/memory-scope.ts'
import type { Restores } from '../capability.ts'
import { countVectors, deleteSpaces } from '../knowledge/vector-spaces.ts'
import type { VectorStore } from '../knowledge/vector-store.ts'
import type { Store, Members } from '../owned-data/data-store.ts'
import type { Memories } from './index.ts'

/** What others need of memory; the facts themselves, their owners and lines in archives are with their record. */
export const memoryCapability = {
  /** Facts beyond what a user may have, or whose assistant is missing, are refused. */
  restore: ({
    memories: { has, create },
  }: {
    memories: Pick<Memories, 'has' | 'create'>
  }): Pick<Restores, 'memories'> => ({
    async memories(
      userId,
      { memory_id, text, project_id, assistant_id, source_message_id, made_by, created_at },
      idOf,
    ) {
      const id = idOf('memory', memory_id)
      if (await has(userId, id)) return 'existing'
      const fact = {
        text,
        ...(project_id === undefined ? {} : { project_id: idOf('project', project_id) }),
        ...(assistant_id === undefined ? {} : { assistant_id: idOf('assistant', assistant_id) }),
        // Messages keep their ids.
        ...(source_message_id === undefined ? {} : { source_message_id }),
      }
      const stored = await create(userId, fact, id, { createdAt: new Date(created_at), madeBy: made_by })
      return stored._id === id ? 'imported' : 'existing'
    },
  }),

  /**
   * The vectors of facts, which are found by the owners of their spaces. After the facts: one that is being embedded
   * finds its record gone, and removes the vector that it has just stored.
   */
  stores: ({ vectors }: { vectors: Pick<VectorStore, 'spacesOf' | 'deleteSpace' | 'count'> }): Store[] => [
    {
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
    },
  ],
}

function spaceOwners({ userIds, projectIds, assistantIds }: Members): string[] {
  return [
    ...userIds.map((id) => memorySpaces({ kind: 'user', id })),
    ...projectIds.map((id) => memorySpaces({ kind: 'project', id })),
    ...assistantIds.flatMap((id) => [memorySpaces({ kind: 'assistant', id }), memorySpaces({ kind: 'caller', id })]),
  ]
}
