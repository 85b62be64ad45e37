import { addAll } from '../../domain/add-all.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { WorkUsage } from '../budgets/work.ts'
import { embeddingBatch, embeddingsAtOnce } from '../knowledge/embed-chunks.ts'
import { noEmbeddingModel } from '../knowledge/embedder.ts'
import { refusalOfServer } from '../models/refusal-of-server.ts'

export interface EmbeddingsRequest {
  /** Texts, or texts as the numbers of their tokens. */
  input: string[] | number[][]
  /** The length of the vectors. */
  dimensions: number
}

/** The server of the embedding model, as its callers may ask it themselves. */
export interface EmbeddingServer {
  /** The model's name in the settings. */
  readonly name: string
  /** The length of vectors in the settings. */
  readonly dimensions: number
  /**
   * One vector for each text, in order, and the tokens of the texts if the server counts them. Throws `ModelFailure`;
   * it is not retryable for a length that the model cannot make.
   */
  embedRequest(asked: EmbeddingsRequest, signal?: AbortSignal): Promise<Embedded>
}

interface Embedded {
  vectors: number[][]
  tokens: number | undefined
}

export interface EmbeddingRequest {
  model: string
  input: EmbeddingsRequest['input']
  dimensions?: number | undefined
  /** Bytes that one number takes in the answer. */
  bytesOfNumber: number
  /** Whose budget pays. */
  projectId: string
}

/** 2,048 vectors of 1,536 dimensions, as base64, with room to spare. */
const maxAnswerBytes = 24 * 1024 * 1024

/** Embeddings for callers, by the model that also embeds their files. */
export function createEmbeddings(server: EmbeddingServer | undefined, workUsage: Pick<WorkUsage, 'note' | 'admit'>) {
  return {
    /** The name of the model; undefined if none is configured. */
    model: server?.name,

    /**
     * Asks the server in batches. Throws `unavailable` without a model, `not_found` for another model, `invalid_input`
     * for more vectors than one answer can hold, the refusal of a spent budget, and the failures of the server.
     */
    async embed(
      { model, input, dimensions, bytesOfNumber, projectId }: EmbeddingRequest,
      signal: AbortSignal,
    ): Promise<Embedded> {
      if (server === undefined) throw noEmbeddingModel()
      if (model !== server.name)
        throw new AppError(
          'not_found',
          `There is no embedding model ${model} here. The embedding model is ${server.name}.`,
        )
      const length = dimensions ?? server.dimensions
      const most = Math.floor(maxAnswerBytes / (length * bytesOfNumber))
      if (input.length > most)
        throw invalidInput(
          ['body', 'input'],
          `at most ${most} texts fit into one answer with vectors of ${length} dimensions in this encoding`,
          'too_many',
        )
      await workUsage.admit({ projectId })
      const batches = batchesOf(input)
      const done: Embedded[] = []
      try {
        for (let next = 0; next < batches.length; next += embeddingsAtOnce) {
          const group = batches.slice(next, next + embeddingsAtOnce)
          const embedded = group.map((batch) => server.embedRequest({ input: batch, dimensions: length }, signal))
          const made = await Promise.all(embedded)
          addAll(done, made)
          const tokens = made.reduce(
            (sum, one, index) => sum + (one.tokens ?? tokensIn(batches[next + index] ?? [])),
            0,
          )
          await workUsage.note({ projectId }, { embedding_tokens: tokens })
        }
      } catch (error) {
        throw error instanceof ModelFailure ? refusalOf(error, input) : error
      }
      return {
        vectors: done.flatMap(({ vectors }) => vectors),
        tokens: done.reduce<number | undefined>(
          (sum, { tokens }) => (sum === undefined || tokens === undefined ? undefined : sum + tokens),
          0,
        ),
      }
    },
  }
}

/** For a server that counts none: a token for four bytes of text. */
function tokensIn(input: EmbeddingsRequest['input']): number {
  return input.reduce<number>(
    (sum, one) => sum + (typeof one === 'string' ? Math.ceil(Buffer.byteLength(one) / 4) : one.length),
    0,
  )
}

function batchesOf(input: EmbeddingsRequest['input']): EmbeddingsRequest['input'][] {
  return Array.from({ length: Math.ceil(input.length / embeddingBatch) }, (_, index) =>
    input.slice(index * embeddingBatch, (index + 1) * embeddingBatch),
  )
}

function refusalOf(failure: ModelFailure, [first]: EmbeddingsRequest['input']): AppError {
  if (failure.type === 'model_refused_request' && Array.isArray(first))
    return invalidInput(
      ['body', 'input'],
      'the embedding server takes texts, and refused lists of tokens',
      'unsupported',
    )
  return refusalOfServer(failure)
}
