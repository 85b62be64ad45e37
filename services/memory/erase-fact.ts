import { memorySpaces } from '../../domain/memory/memory-scope.ts'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import type { Collections } from '../collections.ts'
import { deleteVectorsOfFile } from '../knowledge/vector-spaces.ts'
import type { VectorStore } from '../knowledge/vector-store.ts'
import { scopeOf } from './embed-facts.ts'
import { factStore } from './store.ts'

export interface EraseFactDeps {
  collections: Pick<Collections, 'memories'>
  vectors: Pick<VectorStore, 'spacesOf' | 'deleteFile'>
}

export type EraseFact = ReturnType<typeof createEraseFact>

/** Removes a fact that is hidden: its vector, then its record, by which another attempt finds it. Safe to repeat. */
export function createEraseFact({ collections, vectors }: EraseFactDeps) {
  return async (fact: MemoryRecord): Promise<void> => {
    await deleteVectorsOfFile(vectors, memorySpaces(scopeOf(fact)), fact._id)
    await factStore(collections).removeHidden(fact)
  }
}
