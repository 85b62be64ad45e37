import { type Sources, maxSourceFiles } from '../../domain/assistant-file/assistant-file.ts'
import { invalidInput } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from './write-assistants.ts'

type SourceFile = Pick<FileRecord, 'name' | 'sha256' | 'size'>
type NamedStore = Pick<AssistantRecord, '_id' | 'name'>

const maxStoresRead = 100

/** What an assistant file says about the assistant's sources. */
export function createFileSources({ assistants, files }: Pick<Collections, 'assistants' | 'files'>) {
  return {
    /** Processed files, oldest first; more than a file can name are left out. */
    filesOf: (assistantId: string): Promise<SourceFile[]> =>
      files
        .find({ assistant_id: assistantId, status: { $nin: ['uploading', 'failed'] } }, { name: 1, sha256: 1, size: 1 })
        .sort({ created_at: 1, order: 1, _id: 1 })
        .limit(maxSourceFiles)
        .lean<SourceFile[]>()
        .exec(),

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

  function storesOf(projectId: string, which: object): Promise<NamedStore[]> {
    return assistants
      .find({ project_id: projectId, kind: 'vector_store', deleting: { $ne: true }, ...which }, { name: 1 })
      .sort({ created_at: 1, _id: 1 })
      .limit(maxStoresRead)
      .lean<NamedStore[]>()
      .exec()
  }
}
