import { AppError } from '../../domain/errors.ts'

export interface Embedder {
  /** The model and the length of its vectors. Only vectors with the same value can be compared. */
  readonly model: string
  /** No model: what it returns cannot be compared, and files are searched by their words alone. */
  readonly isWordsOnly?: boolean
  /** Returns one vector for each text, in order. Throws `ModelFailure`, which says whether and when to retry. */
  embed(texts: string[], signal?: AbortSignal): Promise<number[][]>
}

export function noEmbeddingModel(): AppError {
  return new AppError(
    'unavailable',
    'No embedding model is configured on this server (EMBEDDING_BASE_URL, or OPENAI_API_KEY).',
  )
}
