import type { Static, TSchema } from 'typebox'
import Type from 'typebox'
import { Value } from 'typebox/value'

/** The members that the demo model reads; all others are accepted and ignored. */
export const ChatRequest = Type.Object({
  messages: Type.Array(Type.Object({ role: Type.String(), content: Type.Optional(Type.Unknown()) }), { minItems: 1 }),
  stream: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  stream_options: Type.Optional(
    Type.Union([Type.Object({ include_usage: Type.Optional(Type.Boolean()) }), Type.Null()]),
  ),
  tools: Type.Optional(
    Type.Array(Type.Object({ type: Type.String(), function: Type.Optional(Type.Object({ name: Type.String() })) })),
  ),
  tool_choice: Type.Optional(Type.Unknown()),
  max_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
  max_completion_tokens: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
})
export type ChatRequest = Static<typeof ChatRequest>

export const EmbeddingRequest = Type.Object({
  input: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })]),
  dimensions: Type.Optional(Type.Integer({ minimum: 1, maximum: 8192 })),
  encoding_format: Type.Optional(Type.Union([Type.Literal('float'), Type.Literal('base64')])),
})

/** A request that this server cannot answer. */
export class BadRequest extends Error {}

/** Parses the JSON text into the expected type. Throws `BadRequest` that names the first wrong member. */
export function parseRequest<T extends TSchema>(schema: T, text: string): Static<T> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new BadRequest('the body is not valid JSON')
  }
  if (Value.Check(schema, value)) return value
  const [problem] = Value.Errors(schema, value)
  throw new BadRequest(`${problem?.instancePath || 'body'}: ${problem?.message ?? 'is not valid'}`)
}
