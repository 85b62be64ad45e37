import type { VectorStoreRecord } from '../../domain/records/assistant.ts'
import type { NewEntry } from '../knowledge/add-entries.ts'
import type { createStoreEntries } from '../knowledge/store-entries.ts'
import type { VectorStoreMembers, VectorStores } from '../knowledge/vector-stores.ts'
import { type Caller, requireEditor } from '../owner.ts'

interface CreateStoreDeps {
  vectorStores: Pick<VectorStores, 'create'>
  entries: Pick<ReturnType<typeof createStoreEntries>, 'admit' | 'requireSource' | 'add'>
}

export type CreateStore = ReturnType<typeof createCreateStore>

/**
 * A new vector store with files of its project, for who may edit the project. Creates nothing if a file is missing or
 * none could be processed.
 */
export function createCreateStore({ vectorStores, entries }: CreateStoreDeps) {
  return async (
    caller: Caller,
    members: VectorStoreMembers,
    files: NewEntry[],
    id?: string,
  ): Promise<VectorStoreRecord> => {
    requireEditor(caller)
    if (files.length > 0) await entries.admit()
    for (const { fileId } of files) await entries.requireSource(caller, fileId)
    const store = await vectorStores.create(caller, members, id)
    await entries.add(store, files)
    return store
  }
}
