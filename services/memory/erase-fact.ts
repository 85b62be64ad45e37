import { memorySpaces } from '../../domain/memory/memory-scope.ts'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import type { Collections } from '../collections.ts'
import { deleteVectorsOfFile } from '../knowledge/vector-spaces.ts'
import type { VectorStore } from '../knowledge/vector-store.ts'
import { scopeOf } from './embed-facts.ts'

export interface EraseFactDeps {
  collections: Pick<Collections, 'memories'>
  vectors: Pick<VectorStore, 'spacesOf' | 'deleteFile'>
}

/** What hides a fact at once. Its text is gone, and may be saved again. */
export function tombstone(id: string) {
  return { $set: { deleting: true, text: '', text_hash: `deleted ${id}` } }
}

export type EraseFact = ReturnType<typeof createEraseFact>

/** Removes a fact that is hidden: its vector, then its record, by which another attempt finds it. Safe to repeat. */
export function createEraseFact({ collections: { memories }, vectors }: EraseFactDeps) {
  return async (fact: MemoryRecord): Promise<void> => {
    await deleteVectorsOfFile(vectors, memorySpaces(scopeOf(fact)), fact._id)
    await memories.deleteOne({ _id: fact._id, deleting: true })
  }
}
