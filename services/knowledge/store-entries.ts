import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import { AppError } from '../../domain/errors.ts'
import { toJsonText } from '../../domain/json.ts'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import type { VectorStoreRecord } from '../../domain/records/assistant.ts'
import type { FileChunk } from '../../domain/records/chunk-group.ts'
import type { FileBatchRecord } from '../../domain/records/file-batch.ts'
import { type PageQuery } from '../cursor-page.ts'
import type { Caller } from '../owner.ts'
import { type Page, pageOf } from '../page.ts'
import { projectFileStore } from '../stores/files.ts'
import { type AddEntriesDeps, createAddEntries } from './add-entries.ts'
import type { Attributes } from './attribute-filter.ts'
import type { EntryRecord } from './entry-record.ts'
import { createFileBatches } from './file-batches.ts'
import type { createFiles } from './files.ts'
import { type SearchEntriesDeps, createSearchEntries } from './search-entries.ts'
import { eachChunk } from './stored-chunks.ts'

interface StoreEntriesDeps extends AddEntriesDeps, SearchEntriesDeps {
  collections: AddEntriesDeps['collections']
  files: Pick<ReturnType<typeof createFiles>, 'remove'>
}

type EntryPageQuery = PageQuery & {
  status?: 'in_progress' | 'completed' | 'failed' | 'cancelled' | undefined
  batch?: FileBatchRecord
}

/**
 * The files of vector stores. Each is an entry, a record like that of an assistant's file: it has chunks and vectors of
 * its own, and shares the bytes of the project's file, by whose id callers name it.
 */
export function createStoreEntries(deps: StoreEntriesDeps) {
  const { collections, files: knowledge } = deps
  const entries = projectFileStore(collections)
  const batches = createFileBatches(collections)

  async function find(store: VectorStoreRecord, fileId: string): Promise<EntryRecord> {
    const entry = await entries.findEntry(store._id, fileId)
    if (entry === null) throw new AppError('not_found', `The vector store has no file ${fileId}.`)
    return entry
  }

  return {
    ...createAddEntries(deps),
    search: createSearchEntries(deps),

    batches,

    /** Throws `not_found` for a file that is not one of the project. */
    async requireSource({ projectId }: Pick<Caller, 'projectId'>, fileId: string): Promise<void> {
      if (!(await entries.hasReady(projectOwner(projectId), fileId)))
        throw new AppError('not_found', `There is no file ${fileId}.`)
    },

    find,

    page: (store: VectorStoreRecord, { batch, ...query }: EntryPageQuery): Promise<Page<EntryRecord>> =>
      entries.pageEntries(store._id, { ...query, ids: batch?.entry_ids }),

    async update(store: VectorStoreRecord, fileId: string, attributes: Attributes): Promise<EntryRecord> {
      await find(store, fileId)
      await entries.setAttributes(store._id, fileId, toJsonText(attributes))
      return find(store, fileId)
    },

    /** Removes the file from the store; the project's file stays. */
    async remove(store: VectorStoreRecord, fileId: string): Promise<DeletionResult> {
      const { _id } = await find(store, fileId)
      return knowledge.remove(store, _id)
    },

    /** The text of the file, as the store has it: overlapping chunks. */
    async content(store: VectorStoreRecord, fileId: string, limit: number): Promise<Page<FileChunk>> {
      const entry = await find(store, fileId)
      return pageOf(eachChunk(collections, entry, 0, limit + 1), limit, ({ text }) => Buffer.byteLength(text))
    },
  }
}
