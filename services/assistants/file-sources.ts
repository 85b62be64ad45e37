import { fileStore } from '../stores/files.ts'
import { ownAssistantStore } from './store.ts'
import { type Sources, maxSourceFiles } from '../../domain/assistant-file/assistant-file.ts'
import { invalidInput } from '../../domain/errors.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from './write-assistants.ts'

/** What an assistant file says about the assistant's sources. */
export function createFileSources(collections: Pick<Collections, 'assistants' | 'files'>) {
  const { listNamedStores: storesOf } = ownAssistantStore(collections)

  return {
    /** Processed files, oldest first; more than a file can name are left out. */
    filesOf: (assistantId: string) => fileStore(collections).listSources(assistantId, maxSourceFiles),

    storesOf,

    /** The ids of the vector stores that the file names; of those with the same name, the oldest. */
    async storeIds({ projectId }: Caller, { vector_stores: names = [] }: Sources): Promise<string[]> {
      if (names.length === 0) return []
      const found = await storesOf(projectId, { name: { $in: names } })
      return names.map((name) => {
        const store = found.find((candidate) => candidate.name === name)
        if (store === undefined)
          throw invalidInput(['body', 'file', 'sources', 'vector_stores'], `this project has no vector store “${name}”`)
        return store._id
      })
    },
  }
}
