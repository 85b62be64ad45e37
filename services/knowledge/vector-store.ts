/** One chunk as the vector store keeps it. `id` is stable: storing it again replaces it. */
export interface VectorRecord {
  id: string
  fileId: string
  /** Place of the chunk in its file, from 0. */
  position: number
  /** The chunk's words, for stores that also search by full text. */
  text: string
  vector: number[]
}

export interface VectorQuery {
  vector: number[]
  /** The question in words, for stores that also search by full text. */
  text: string
  limit: number
}

export interface VectorMatch {
  id: string
  fileId: string
  /** Higher is better; between 0 and 1. */
  score: number
}

/**
 * What the service asks of a vector store. Each assistant has a space of its own there, made by its
 * first `upsert`. Reading or deleting from a space that does not exist finds nothing and is no error.
 * All operations may be repeated. A store that does not answer throws an `AppError` `unavailable`.
 */
export interface VectorStore {
  readonly name: 'lancedb' | 'pinecone'
  /** Rejects with `unavailable` when the store does not answer within about two seconds. */
  ping(): Promise<void>
  /**
   * With `areNew` the caller is all but sure that none of them is stored: a store that would have to
   * look first need not, and a double is left to `settle`.
   */
  upsert(assistantId: string, records: VectorRecord[], options?: { areNew?: boolean }): Promise<void>
  search(assistantId: string, query: VectorQuery): Promise<VectorMatch[]>
  /** Number of different chunks, of one file or of all. */
  count(assistantId: string, fileId?: string): Promise<number>
  deleteFile(assistantId: string, fileId: string): Promise<void>
  deleteAssistant(assistantId: string): Promise<void>
  /** Assistants that have a space, for finding spaces without an owner. */
  listAssistants(): Promise<string[]>
  /** Ids of the files that have chunks in an assistant's space. */
  listFiles(assistantId: string): Promise<string[]>
  /**
   * To be called when a file is complete, and now and then during a long one: builds or refreshes
   * indexes where it pays. With `expected`, the number of the file's chunks, doubles that two writers
   * made at the same moment are removed.
   */
  settle(assistantId: string, fileId: string, expected?: number): Promise<void>
  close(): Promise<void>
}
