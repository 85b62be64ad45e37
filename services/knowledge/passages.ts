import { AppError } from '../../domain/errors.ts'
import type { ChunkRecord, FileRecord } from '../../domain/records/file.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import type { KnowledgeCollections } from './collections.ts'
import type { Embedder } from './embedder.ts'
import { type Passage, type RetrieveDeps, type RetrieveInput, retrieve } from './retrieve.ts'

type PassagesDeps = Omit<RetrieveDeps, 'embedder'> & {
  collections: KnowledgeCollections
  /** Undefined if no model is configured. */
  embedder: Embedder | undefined
}

/** The chunks of files, as owners can see them. */
export function createPassages({ collections, vectors, embedder }: PassagesDeps) {
  const { chunks, files } = collections
  return {
    /** A page of the chunks of a file, in order. Throws `not_found`. */
    async ofFile(
      assistantId: string,
      fileId: string,
      range: PageRange,
    ): Promise<{ page: Page<ChunkRecord>; total: number }> {
      const own = { _id: fileId, assistant_id: assistantId, status: { $ne: 'uploading' as const } }
      const file = await files.findOne(own).lean<FileRecord>()
      if (!file) throw new AppError('not_found', 'There is no such file.')
      const query = chunks.find({ file_id: fileId }).sort({ position: 1 }).lean<ChunkRecord>()
      return { page: await readPage(query, range, chunkBytes), total: file.chunks }
    },

    /** The passages that the tool `retrieval` would give the model. Throws `unavailable` without a model. */
    async search(
      assistant: RetrieveInput['assistant'],
      query: string,
      limit: number,
      signal: AbortSignal,
    ): Promise<Passage[]> {
      if (!embedder)
        throw new AppError(
          'unavailable',
          'Files cannot be searched: no embedding model is configured (EMBEDDING_BASE_URL, or OPENAI_API_KEY).',
        )
      return retrieve({ collections, vectors, embedder }, { assistant, query, limit }, signal).catch(
        (error: unknown) => {
          if (error instanceof AppError) throw error
          throw new AppError('unavailable', 'The files cannot be searched at the moment; try again soon.', {
            cause: error,
          })
        },
      )
    },
  }
}

function chunkBytes(chunk: ChunkRecord): number {
  return Buffer.byteLength(JSON.stringify(chunk))
}
