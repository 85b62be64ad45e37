import { AppError } from '../../domain/errors.ts'
import type { FileChunk } from '../../domain/records/chunk-group.ts'
import { type Page, type PageRange, pageOf, jsonBytes } from '../page.ts'
import { fileStore } from '../stores/files.ts'
import type { Embedder } from './embedder.ts'
import { type Passage, type RetrieveDeps, type RetrieveInput, retrieve } from './retrieve.ts'
import { eachChunk } from './stored-chunks.ts'

type PassagesDeps = Omit<RetrieveDeps, 'embedder'> & {
  collections: RetrieveDeps['collections']
  /** Undefined if no model is configured. */
  embedder: Embedder | undefined
}

/** The chunks of files, as owners can see them. */
export function createPassages({ collections, vectors, embedder, reranker }: PassagesDeps) {
  return {
    /** A page of the chunks of a file, in order. Throws `not_found`. */
    async ofFile(
      assistantId: string,
      fileId: string,
      range: PageRange,
    ): Promise<{ page: Page<FileChunk>; total: number }> {
      const file = await fileStore(collections).findReadOwned(assistantId, fileId)
      if (!file) throw new AppError('not_found', 'There is no such file.')
      // One more than wanted tells whether the list continues.
      const found = eachChunk(collections, file, range.offset, range.limit + 1)
      return { page: await pageOf(found, range.limit, jsonBytes), total: file.chunks }
    },

    /** The passages that the tool `retrieval` would give the model. Throws `unavailable` without a model. */
    async search(
      assistant: RetrieveInput['assistant'],
      query: string,
      limit: number,
      signal: AbortSignal,
      { fileIds, explain }: Pick<RetrieveInput, 'fileIds' | 'explain'> = {},
    ): Promise<Passage[]> {
      if (!embedder)
        throw new AppError(
          'unavailable',
          'Files cannot be searched: no embedding model is configured (EMBEDDING_BASE_URL, or OPENAI_API_KEY).',
        )
      return retrieve(
        { collections, vectors, embedder, reranker },
        { assistant, query, limit, fileIds, explain },
        signal,
      ).catch((error: unknown) => {
        if (error instanceof AppError) throw error
        throw new AppError('unavailable', 'The files cannot be searched at the moment; try again soon.', {
          cause: error,
        })
      })
    },
  }
}
