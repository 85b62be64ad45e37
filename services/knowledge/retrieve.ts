import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { KnowledgeCollections } from './collections.ts'
import type { Embedder } from './embedder.ts'
import { isOfModel } from './embedding-model.ts'
import { findChunks } from './stored-chunks.ts'
import type { VectorStore } from './vector-store.ts'

/** A passage that was found, with everything that is needed to cite it. */
export interface Passage {
  file_id: string
  file_name: string
  page?: number
  heading?: string
  text: string
  /** From 0 to 1, best first. */
  score: number
}

export interface RetrieveDeps {
  collections: KnowledgeCollections
  vectors: Pick<VectorStore, 'search'>
  embedder: Embedder
}

export interface RetrieveInput {
  assistant: Pick<AssistantRecord, '_id' | 'embedding_model'>
  query: string
  limit: number
}

/**
 * The passages of an assistant's ready files that match a query best. Throws `ModelFailure` if the query cannot be
 * embedded, and `AppError` `unavailable` if the vector store does not answer. After a change of the embedding model,
 * passages are found by their words only.
 */
export async function retrieve(deps: RetrieveDeps, input: RetrieveInput, signal?: AbortSignal): Promise<Passage[]> {
  const { assistant, query, limit } = input
  const assistantId = assistant._id
  const [vector] = isOfModel(assistant, deps.embedder.model) ? await deps.embedder.embed([query], signal) : []
  // More than requested: some may belong to files that are being processed or deleted.
  const matches = await deps.vectors.search(assistantId, { vector, text: query, limit: limit * 2 })
  const { files } = deps.collections
  const [chunkOf, ready] = await Promise.all([
    findChunks(deps.collections, assistantId, matches),
    files
      .find({
        _id: { $in: [...new Set(matches.map((match) => match.fileId))] },
        assistant_id: assistantId,
        status: 'ready',
      })
      .lean<FileRecord[]>(),
  ])
  const fileOf = new Map(ready.map((file) => [file._id, file]))
  const passages: Passage[] = []
  for (const { id, score } of matches) {
    const chunk = chunkOf.get(id)
    const file = chunk && fileOf.get(chunk.fileId)
    if (!chunk || !file || passages.length >= limit) continue
    passages.push({
      file_id: file._id,
      file_name: file.name,
      ...(chunk.page === undefined ? {} : { page: chunk.page }),
      ...(chunk.heading === undefined ? {} : { heading: chunk.heading }),
      text: chunk.text,
      score: Math.round(score * 1000) / 1000,
    })
  }
  return passages
}
