import { BadRequestError, UnprocessableEntityError } from 'openai/core/error'
import { memberOf } from '../../domain/json.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { Embedder } from '../../services/knowledge/embedder.ts'
import type { EmbeddingsRequest, EmbeddingServer } from '../../services/v1/embeddings.ts'
import { collectEvery } from '../garbage.ts'
import { failureOf } from './failures.ts'
import { guardFetch, openClient } from './guarded-fetch.ts'

interface EmbedderOptions {
  apiKey: string
  baseUrl: string | undefined
  model: string
  dimensions: number
  /** The settings that errors name. */
  names: { apiKey: string; baseUrl: string }
  /** Reaches the servers that the settings name. */
  fetch: typeof fetch
  /** A request fails after this time without a byte. */
  silenceMs?: number
}

/** A request ends after this time, even if the server still sends. */
const requestMs = 180_000
const bytesOfDouble = 8
/**
 * Texts and vectors of an ingestion outlive V8's quick collections: without others, a gigabyte let a worker grow by 257
 * MB.
 */
const collectEveryBytes = 8 * 1024 * 1024
/** A number in JSON has at most 25 characters, and a server may indent it. */
const bytesOfNumber = 64

/**
 * Embeddings through the `openai` client, which is loaded with the first request. Its own retries are off, because
 * Temporal retries. Vectors are requested as base64, a third of the size of numbers in JSON; if a server supports
 * neither that nor `dimensions`, it is asked again without them.
 */
export function createEmbedder(options: EmbedderOptions): Embedder & EmbeddingServer {
  const { apiKey, baseUrl, model, silenceMs = 60_000 } = options
  const knows = { base64: true, dimensions: true }
  const noteUsed = collectEvery(collectEveryBytes, 'major')

  async function request(wanted: Wanted, signal: AbortSignal): Promise<unknown> {
    const { input, dimensions } = wanted
    const used = { base64: knows.base64, dimensions: knows.dimensions || wanted.isOwnLength === false }
    const maxBytes = 1024 * 1024 + input.length * dimensions * bytesOfNumber
    const whole = { containers: 1000 + 4 * input.length, members: 10_000 + input.length * (dimensions + 20) }
    const guard = guardFetch(options.fetch, { silenceMs, maxBytes, maxEventBytes: maxBytes, whole })
    try {
      const client = await openClient({ apiKey, baseUrl, fetch: guard.fetch, silenceMs })
      return await client.embeddings.create(
        {
          model,
          input,
          // Set explicitly, so that the client returns what the server sent.
          encoding_format: used.base64 ? 'base64' : 'float',
          ...(used.dimensions ? { dimensions } : {}),
        },
        { signal },
      )
    } catch (error) {
      if (!forget(error, used, wanted)) throw guard.failure ?? error
    } finally {
      guard.close()
    }
    return request(wanted, signal)
  }

  /** Whether the server refused an option that the request can do without. */
  function forget(error: unknown, used: typeof knows, { isOwnLength }: Wanted): boolean {
    if (!(error instanceof BadRequestError || error instanceof UnprocessableEntityError)) return false
    if (used.base64 && /encoding_format|base64/i.test(error.message)) knows.base64 = false
    else if (used.dimensions && isOwnLength && /dimension/i.test(error.message)) knows.dimensions = false
    else return false
    return true
  }

  async function ask<T>(wanted: Wanted, read: (answer: unknown) => T, signal?: AbortSignal): Promise<T> {
    const limit = AbortSignal.timeout(requestMs)
    try {
      return read(await request(wanted, signal ? AbortSignal.any([signal, limit]) : limit))
    } catch (error) {
      signal?.throwIfAborted()
      throw described(limit.aborted ? tooSlow() : failureOf(error, apiKey), options.names)
    }
  }

  return {
    model: `${model} (${options.dimensions} dimensions)`,
    name: model,
    dimensions: options.dimensions,

    embed: async (input, signal) => {
      const { dimensions } = options
      const read = (answer: unknown) => readEmbeddings(answer, { texts: input.length, dimensions })
      const vectors = await ask({ input, dimensions, isOwnLength: true }, read, signal)
      // A search asks for one.
      if (vectors.length > 1)
        noteUsed(input.reduce((sum, text) => sum + text.length, vectors.length * dimensions * bytesOfDouble))
      return vectors
    },

    embedRequest: ({ input, dimensions }, signal) => {
      const isOwnLength = dimensions === options.dimensions
      const read = (answer: unknown) => ({
        vectors: readEmbeddings(answer, { texts: input.length, dimensions, isOwnLength }),
        tokens: readTokens(answer),
      })
      return ask({ input, dimensions, isOwnLength }, read, signal)
    },
  }
}

interface Wanted extends EmbeddingsRequest {
  /** The length is that of the settings, which may be the server's own: then the request does not name it. */
  isOwnLength: boolean
}

/** `failureOf` describes failures of the model that answers. These messages name the embedding server and its settings. */
function described(error: unknown, names: EmbedderOptions['names']): unknown {
  if (!(error instanceof ModelFailure)) return error
  const message = messageOf(error, names)
  if (message === undefined) return error
  const { statusCode, type, details, retryable, retryAfterMs } = error
  return new ModelFailure(message, { statusCode, type, details, retryable, retryAfterMs, cause: error })
}

function messageOf({ type, statusCode }: ModelFailure, { apiKey, baseUrl }: EmbedderOptions['names']) {
  switch (type) {
    case 'model_busy':
      return 'The embedding server is busy.'
    case 'model_quota_exceeded':
      return `The quota of the embedding account (${apiKey}) is used up.`
    case 'model_credentials_refused':
      return `The embedding server refused the key (${apiKey}).`
    case 'model_connection_error':
      return `The embedding server (${baseUrl}) could not be reached, or broke off its answer.`
    case 'model_timeout':
      return `The embedding server (${baseUrl}) did not answer in time.`
    case 'model_answer_too_long':
      return 'The embedding server sent more than the vectors can need.'
    case 'model_not_found':
    case 'model_error':
      return statusCode === 404
        ? `The embedding server answered 404: check ${baseUrl} and EMBEDDING_MODEL.`
        : 'The embedding server failed.'
    case 'model_refused_request':
      return 'The embedding server refused the request (EMBEDDING_MODEL, EMBEDDING_DIMENSIONS).'
    case 'context_length_exceeded':
      return 'The text is too long for the embedding model (EMBEDDING_MODEL).'
    case 'model_invalid_answer':
      return undefined
  }
}

function tooSlow(): ModelFailure {
  return new ModelFailure('', { statusCode: 504, type: 'model_timeout', retryable: true })
}

interface Expected {
  /** Number of texts that were sent. */
  texts: number
  dimensions: number
  /** False if a caller asked for another length than that of the settings. */
  isOwnLength?: boolean
}

/**
 * The vectors of an answer of the embeddings API, in the order of the texts. Throws `ModelFailure` unless there is
 * exactly one vector of the right length for each text, and every number fits into 32 bits.
 */
function readEmbeddings(answer: unknown, expected: Expected): number[][] {
  const { texts } = expected
  const entries = memberOf(answer, 'data')
  if (!Array.isArray(entries)) throw unreadable('an answer without vectors')
  if (entries.length !== texts) throw unreadable(`${entries.length} vectors for ${texts} texts`)
  const vectors: number[][] = []
  for (const [position, entry] of entries.entries()) {
    const index = memberOf(entry, 'index') ?? position
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= texts || vectors[index])
      throw unreadable('vectors that do not belong to the texts one by one')
    vectors[index] = toVector(memberOf(entry, 'embedding'), expected)
  }
  return vectors
}

/** The tokens of the texts as the server counted them; undefined if it reports none. */
function readTokens(answer: unknown): number | undefined {
  const tokens = memberOf(memberOf(answer, 'usage'), 'prompt_tokens')
  return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined
}

/** Base64 of little-endian 32-bit floats, or numbers. */
function toVector(embedding: unknown, { dimensions, isOwnLength = true }: Expected): number[] {
  const numbers: unknown = typeof embedding === 'string' ? fromBase64(embedding) : embedding
  if (!Array.isArray(numbers)) throw unreadable('an answer without vectors')
  if (numbers.length !== dimensions)
    throw isOwnLength ? otherDimensions(numbers.length, dimensions) : otherLength(dimensions)
  if (!numbers.every(isNumber)) throw unreadable('a vector with no number')
  return numbers
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(Math.fround(value))
}

function fromBase64(text: string): number[] | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length % 4 !== 0) return undefined
  // A loop: further buffers would wait outside of V8's heap for its next collection.
  const numbers: number[] = []
  for (let at = 0; at < bytes.length; at += 4) numbers.push(bytes.readFloatLE(at))
  return numbers
}

function unreadable(what: string): ModelFailure {
  return new ModelFailure(`The embedding server sent ${what}.`, {
    statusCode: 502,
    type: 'model_invalid_answer',
    retryable: true,
  })
}

function otherDimensions(found: number, expected: number): ModelFailure {
  return new ModelFailure(
    `The embedding server sent vectors of ${found} dimensions, but EMBEDDING_DIMENSIONS is ${expected}.`,
    { statusCode: 502, type: 'model_invalid_answer', retryable: false },
  )
}

function otherLength(dimensions: number): ModelFailure {
  return new ModelFailure(`The embedding model does not make vectors of ${dimensions} dimensions.`, {
    statusCode: 400,
    type: 'model_refused_request',
    retryable: false,
  })
}
