import { ModelFailure } from '../../domain/model-failure.ts'

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
export function readEmbeddings(answer: unknown, expected: Expected): number[][] {
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
export function readTokens(answer: unknown): number | undefined {
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

function memberOf(value: unknown, name: 'data' | 'index' | 'embedding' | 'usage' | 'prompt_tokens'): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
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
