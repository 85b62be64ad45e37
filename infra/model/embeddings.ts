import type OpenAI from 'openai'
import { BadRequestError, UnprocessableEntityError } from 'openai/core/error'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { Embedder } from '../../services/knowledge/embedder.ts'
import { defaultBaseUrl, failureOf } from './chat.ts'

export interface EmbedderOptions {
  apiKey: string
  baseUrl: string | undefined
  model: string
  dimensions: number
}

const timeoutMs = 60_000

/**
 * Embeddings through the `openai` client, which is loaded with the first request. Its own retries are off, because
 * Temporal retries. Vectors are
 * requested as base64, a third of the size of numbers in JSON; if a server supports neither that nor `dimensions`,
 * it is asked again without them.
 */
export function createEmbedder({ apiKey, baseUrl, model, dimensions }: EmbedderOptions): Embedder {
  let loading: Promise<OpenAI> | undefined
  const connect = () => (loading ??= load())

  async function load(): Promise<OpenAI> {
    const { OpenAI: Client } = await import('openai')
    return new Client({
      apiKey,
      baseURL: baseUrl ?? defaultBaseUrl,
      organization: null,
      project: null,
      maxRetries: 0,
      timeout: timeoutMs,
    })
  }

  const knows = { base64: true, dimensions: true }

  async function request(texts: string[], signal: AbortSignal | undefined): Promise<unknown[]> {
    const asked = { ...knows }
    try {
      const client = await connect()
      const answer = await client.embeddings.create(
        {
          model,
          input: texts,
          // Set explicitly, so that the client returns what the server sent.
          encoding_format: asked.base64 ? 'base64' : 'float',
          ...(asked.dimensions ? { dimensions } : {}),
        },
        signal === undefined ? {} : { signal },
      )
      const ordered = answer.data.toSorted((a, b) => a.index - b.index)
      return ordered.map((entry): unknown => entry.embedding)
    } catch (error) {
      if (!forget(error, asked)) throw error
      return request(texts, signal)
    }
  }

  /** Whether the server refused an option that the request can do without. */
  function forget(error: unknown, asked: typeof knows): boolean {
    if (!(error instanceof BadRequestError || error instanceof UnprocessableEntityError)) return false
    if (asked.base64 && /encoding_format|base64/i.test(error.message)) knows.base64 = false
    else if (asked.dimensions && /dimension/i.test(error.message)) knows.dimensions = false
    else return false
    return true
  }

  return {
    async embed(texts, signal) {
      try {
        const vectors = (await request(texts, signal)).map(toVector)
        if (vectors.length !== texts.length || vectors.some((vector) => vector.length === 0)) throw unreadable()
        return vectors
      } catch (error) {
        signal?.throwIfAborted()
        throw failureOf(error, apiKey)
      }
    },
  }
}

/** Base64 of little-endian 32-bit floats, or numbers. */
function toVector(embedding: unknown): number[] {
  if (typeof embedding === 'string') {
    const bytes = Buffer.from(embedding, 'base64')
    const aligned = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length - (bytes.length % 4))
    return Array.from(new Float32Array(aligned))
  }
  if (Array.isArray(embedding) && embedding.every((value) => typeof value === 'number')) return embedding
  throw unreadable()
}

function unreadable(): ModelFailure {
  return new ModelFailure('The embedding server returned no vectors.', {
    statusCode: 502,
    type: 'model_error',
    retryable: true,
  })
}
