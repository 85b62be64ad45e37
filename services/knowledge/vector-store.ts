/** A chunk in the vector store. `id` is stable: storing it again replaces it. */
export interface VectorRecord {
  id: string
  fileId: string
  /** Position of the chunk in its file, from 0. */
  position: number
  /** The chunk's text, for stores that also search by full text. */
  text: string
  vector: number[]
}

export interface VectorQuery {
  /** Undefined if the stored vectors are of another model: then only full text is searched. */
  vector: number[] | undefined
  /** The query as text, for stores that also search by full text. */
  text: string
  limit: number
  /** Only chunks of these files. */
  fileIds?: string[] | undefined
}

export interface VectorMatch {
  id: string
  fileId: string
  /** Higher is better; between 0 and 1. */
  score: number
  /** Of a store that searches both ways: how it compares with the others by meaning, and by words, from 0 to 1. */
  meaning?: number
  words?: number
}

/**
 * A vector store. Each assistant has spaces of its own (`domain/knowledge/vector-space.ts`), one while its files are
 * of one embedding model; each is created by its first `upsert`. Reading or deleting from a space that does not exist
 * finds nothing and is not an error. All operations may be repeated. A store that does not answer throws an
 * `AppError` `unavailable`.
 */
export interface VectorStore {
  readonly name: 'lancedb' | 'pinecone' | 'qdrant'
  /** Rejects with `unavailable` if the store does not answer within about two seconds. */
  ping(): Promise<void>
  /**
   * With `areNew` the caller is almost sure that none of them is stored: a store that would have to search for them
   * first need not, and duplicates are left to `finalize`.
   */
  upsert(space: string, records: VectorRecord[], options?: { areNew?: boolean }): Promise<void>
  search(space: string, query: VectorQuery): Promise<VectorMatch[]>
  /** Number of distinct chunks, of one file or of all. */
  count(space: string, fileId?: string): Promise<number>
  deleteFile(space: string, fileId: string): Promise<void>
  deleteSpace(space: string): Promise<void>
  /** The spaces of an assistant: at least the first, even if it is empty. */
  spacesOf(assistantId: string): Promise<string[]>
  /** All spaces, for finding orphaned ones. */
  listSpaces(): Promise<string[]>
  /** Ids of the files that have chunks in a space. */
  listFiles(space: string): Promise<string[]>
  /**
   * Call when a file is complete, and from time to time during a long one: creates or refreshes indexes where it
   * pays. With `expected`, the number of the file's chunks, duplicates are removed that two writers made at the
   * same moment; without it more chunks will follow, and indexes are refreshed less often.
   */
  finalize(space: string, fileId: string, expected?: number): Promise<void>
  close(): Promise<void>
}
