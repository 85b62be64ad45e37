import { ModelFailure } from '../../domain/model-failure.ts'
import type { Embedder } from '../../services/knowledge/embedder.ts'
import type { EmbeddingServer } from '../../services/v1/embeddings.ts'
import { ProcessGone, type Vectors, createModelClient } from './client.ts'

const builtInName = 'multilingual-e5-small'
const dimensions = 384

/** Embeds with the built-in model, whose process is started with the first text. `weights`: the path of its file. */
export function createBuiltInEmbedder(
  weights: string,
  folder?: string,
): Embedder & EmbeddingServer & { close(): Promise<void> } {
  const client = createModelClient(weights, folder)

  async function ask(texts: string[], signal?: AbortSignal): Promise<{ vectors: number[][]; tokens: number }> {
    const answered = await client.embed(texts, signal).catch((error: unknown) => {
      signal?.throwIfAborted()
      throw failureOf(error)
    })
    return { vectors: vectorsOf(answered, texts.length), tokens: answered.tokens }
  }

  return {
    model: `${builtInName} (built in, ${dimensions} dimensions)`,
    name: builtInName,
    dimensions,
    embed: async (texts, signal) => (await ask(texts, signal)).vectors,
    async embedRequest({ input, dimensions: wanted }, signal) {
      const texts = input.filter((one) => typeof one === 'string')
      if (texts.length < input.length) throw refused('The built-in embedding model takes texts, not numbers of tokens.')
      if (wanted !== dimensions) throw refused(`The built-in embedding model has ${dimensions} dimensions.`)
      return ask(texts, signal)
    },
    close: client.close,
  }
}

function vectorsOf({ numbers }: Vectors, texts: number): number[][] {
  if (numbers.length !== texts * dimensions)
    throw failure('The built-in embedding model returned an unexpected number of values.', 'model_invalid_answer')
  return Array.from({ length: texts }, (_, index) => [
    ...numbers.subarray(index * dimensions, (index + 1) * dimensions),
  ])
}

function failureOf(cause: unknown): ModelFailure {
  return cause instanceof ProcessGone
    ? failure('The built-in embedding model ended unexpectedly.', 'model_connection_error', cause)
    : failure('The built-in embedding model failed.', 'model_error', cause)
}

function failure(
  message: string,
  type: 'model_connection_error' | 'model_error' | 'model_invalid_answer',
  cause?: unknown,
) {
  const details = cause instanceof Error ? cause.message : ''
  return new ModelFailure(message, { statusCode: 502, type, details, retryable: true, cause })
}

function refused(message: string): ModelFailure {
  return new ModelFailure(message, { statusCode: 400, type: 'model_refused_request', retryable: false })
}

/** Takes the place of a model that is not there yet. Only for stores that search words as well. */
export const wordsOnlyEmbedder: Embedder = {
  model: 'words only',
  isWordsOnly: true,
  embed: async (texts) => texts.map(() => [1]),
}
