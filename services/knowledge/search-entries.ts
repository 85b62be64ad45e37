import { AppError } from '../../domain/errors.ts'
import type { VectorStoreRecord } from '../../domain/records/assistant.ts'
import { projectFileStore, fileStore } from '../stores/files.ts'
import { createTurns } from '../turns.ts'
import { type AttributeFilter, type Attributes, readFilter } from './attribute-filter.ts'
import type { KnowledgeCollections } from './collections.ts'
import { attributesOf } from './entry-record.ts'
import type { createPassages } from './passages.ts'
import type { Passage } from './retrieve.ts'
import { requireUnexpired } from './vector-stores.ts'

export interface SearchEntriesDeps {
  collections: Pick<KnowledgeCollections, 'files'>
  passages: Pick<ReturnType<typeof createPassages>, 'search'>
}

interface EntrySearch {
  queries: string[]
  /** Of each query. */
  limit: number
  filter?: AttributeFilter | undefined
}

/** Files that one search can be limited to. */
const maxFilteredFiles = 10_000

/** Searches the files of a vector store; the filter is asked once for all queries. */
export function createSearchEntries({ collections, passages }: SearchEntriesDeps) {
  /** The passages that match best, each with the attributes of its file. */
  return async function search(
    store: VectorStoreRecord,
    { queries, limit, filter }: EntrySearch,
    signal: AbortSignal,
  ): Promise<{ passage: Passage; attributes: Attributes }[]> {
    requireUnexpired(store)
    const fileIds = filter && (await wantedEntries(collections, store._id, filter))
    if (fileIds?.length === 0) return []
    const passagesOf = (query: string) => passages.search(store, query, limit, signal, { fileIds })
    const found = (await Promise.all(queries.map(passagesOf))).flat()
    const ids = [...new Set(found.map((passage) => passage.file_id))]
    const entries = await projectFileStore(collections).listEntries(store._id, ids)
    const attributes = new Map(entries.map((entry) => [entry.source_id, attributesOf(entry)]))
    return found.map((passage) => ({ passage, attributes: attributes.get(passage.file_id) ?? {} }))
  }
}

/** The ids of the ready entries that a filter wants. */
export async function wantedEntries(
  collections: Pick<KnowledgeCollections, 'files'>,
  storeId: string,
  filter: AttributeFilter,
): Promise<string[]> {
  const ids: string[] = []
  const isWanted = readFilter(filter)
  const turns = createTurns()
  for await (const entry of fileStore(collections).openReadyAttributes(storeId)) {
    if (isWanted(attributesOf(entry))) ids.push(entry._id)
    if (ids.length > maxFilteredFiles)
      throw new AppError('bad_request', `The filter leaves more than ${maxFilteredFiles} files.`)
    await turns.next()
  }
  return ids
}
