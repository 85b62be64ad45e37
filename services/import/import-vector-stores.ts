import type { ReadRecords } from '../../domain/archive/items.ts'
import { refused } from '../capability.ts'
import type { Collections } from '../collections.ts'
import type { createStoreEntries } from '../knowledge/store-entries.ts'
import type { VectorStores } from '../knowledge/vector-stores.ts'
import { assistantStore } from '../stores/assistants.ts'
import { projectFileStore } from '../stores/files.ts'
import { vectorStoreStore } from '../stores/vector-stores.ts'
import type { Import } from './import.ts'
import { settle } from './report.ts'

export interface ImportVectorStoresDeps {
  collections: Pick<Collections, 'assistants' | 'files'>
  vectorStores: Pick<VectorStores, 'create'>
  entries: Pick<ReturnType<typeof createStoreEntries>, 'admit' | 'add'>
}

/** Vector stores of an archive, and their files, which are processed anew. */
export function createVectorStoreImport(
  { collections, vectorStores, entries }: ImportVectorStoresDeps,
  { userId, idOf, report }: Import,
) {
  const assistants = assistantStore(collections)

  return {
    vectorStore: (archived: ReadRecords['vector_stores']) =>
      settle(report, 'vector_stores', archived.vector_store_id, async () => {
        const id = idOf('assistant', archived.vector_store_id)
        if (await assistants.hasOwned(userId, id)) return 'existing'
        const caller = { userId, projectId: idOf('project', archived.project_id) }
        const { name, description, metadata, expires_after_days: days } = archived
        await vectorStores.create(caller, { name, description, metadata, expiresAfterDays: days }, id)
        await assistants.noteImported(userId, id, new Date(archived.created_at))
        return 'imported'
      }),

    entry: (archived: ReadRecords['vector_store_files']) =>
      settle(report, 'vector_store_files', `${archived.vector_store_id}/${archived.file_id}`, async () => {
        const storeId = idOf('assistant', archived.vector_store_id)
        const fileId = idOf('file', archived.file_id)
        const store = await vectorStoreStore(collections).findOfUser(userId, storeId)
        if (store === null) throw refused('its vector store was not imported')
        if ((await projectFileStore(collections).findEntry(storeId, fileId)) !== null) return 'existing'
        await entries.admit()
        const { attributes, chunking } = archived
        await entries.add(store, [{ fileId, attributes, chunking }])
        return 'imported'
      }),
  }
}
