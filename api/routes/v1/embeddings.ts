import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { nullable } from '../schemas.ts'
import { type V1Deps, operation, v1Config, v1Refusals } from './v1-route.ts'

/** As the interface says. */
const maxInputs = 2048
const text = Type.String({ minLength: 1, maxLength: requestLimits.textLength })
const tokens = Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }), { minItems: 1, maxItems: 8192 })

const EmbeddingRequest = Type.Object(
  {
    model: Type.String({ minLength: 1, maxLength: 200, description: 'The embedding model of the settings.' }),
    input: Type.Union(
      [
        text,
        Type.Array(text, { minItems: 1, maxItems: maxInputs }),
        tokens,
        Type.Array(tokens, { minItems: 1, maxItems: maxInputs }),
      ],
      { description: 'A text, or its tokens as numbers, or a list of such. Not every model server takes tokens.' },
    ),
    dimensions: Type.Optional(
      nullable(
        Type.Integer({
          minimum: 1,
          maximum: 8192,
          description: 'If not that of the settings: the model must know it.',
        }),
      ),
    ),
    encoding_format: Type.Optional(
      nullable(
        Type.Enum(['float', 'base64'], {
          description: 'Numbers, or base64 of little-endian 32-bit floating-point numbers.',
        }),
      ),
    ),
    user: Type.Optional(nullable(Type.String({ maxLength: requestLimits.nameLength, description: 'Has no effect.' }))),
  },
  { title: 'V1EmbeddingRequest', about: 'Texts to embed.', additionalProperties: false },
)

const EmbeddingList = Type.Object(
  {
    object: Type.Literal('list'),
    model: Type.String(),
    data: Type.Array(
      Type.Object({
        object: Type.Literal('embedding'),
        index: Type.Integer(),
        embedding: Type.Union([Type.Array(Type.Number()), Type.String()]),
      }),
    ),
    usage: Type.Object({
      prompt_tokens: Type.Integer({ description: '0 if the model server does not count them.' }),
      total_tokens: Type.Integer(),
    }),
  },
  { title: 'V1EmbeddingList', about: 'One vector for each text, in order.' },
)

/** `embeddings`: the model that also embeds files. */
export const v1EmbeddingRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1: { embeddings } }) => {
  app.post(
    '/embeddings',
    {
      config: { ...v1Config, largeBody: 'object', limits: ['runs_user'] },
      schema: {
        ...operation('embeddings.create', 'Embed texts with the embedding model of the settings'),
        body: EmbeddingRequest,
        response: { 200: EmbeddingList, ...v1Refusals(404, 502, 504) },
      },
    },
    async (request) => {
      const { model, dimensions, encoding_format: format } = request.body
      const isText = format === 'base64'
      const requested = {
        model,
        projectId: callerOf(request).projectId,
        input: listOf(request.body.input),
        dimensions: dimensions ?? undefined,
        // Four bytes as base64, or up to 25 digits and a comma.
        bytesOfNumber: isText ? 16 / 3 : 26,
      }
      const { vectors, tokens: used = 0 } = await embeddings.embed(requested, request.signal)
      return {
        object: 'list' as const,
        model,
        data: vectors.map((vector, index) => ({
          object: 'embedding' as const,
          index,
          embedding: isText ? toBase64(vector) : vector,
        })),
        usage: { prompt_tokens: used, total_tokens: used },
      }
    },
  )
}

function listOf(input: string | string[] | number[] | number[][]): string[] | number[][] {
  if (typeof input === 'string') return [input]
  return isTokens(input) ? [input] : input
}

function isTokens(input: string[] | number[] | number[][]): input is number[] {
  return typeof input[0] === 'number'
}

function toBase64(vector: number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64')
}
