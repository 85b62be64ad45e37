import Type, { type Static } from 'typebox'
import { AnyKey } from '../../../../domain/any-key.ts'
import { Metadata } from '../../../../domain/metadata.ts'
import { OutputItem, ResponseItem } from '../../../../domain/responses/items.ts'
import { listOf } from '../../public/thread-schemas.ts'
import { nullable } from '../../schemas.ts'

/** Answers of the responses API, following the types of the `openai` package (resources/responses). */

const seconds = Type.Integer({ description: 'Seconds since 1970.' })
const anyObject = Type.Record(AnyKey, Type.Unknown())

export const Usage = Type.Object(
  {
    input_tokens: Type.Integer(),
    input_tokens_details: Type.Object({ cached_tokens: Type.Integer(), cache_write_tokens: Type.Integer() }),
    output_tokens: Type.Integer(),
    output_tokens_details: Type.Object({ reasoning_tokens: Type.Integer() }),
    total_tokens: Type.Integer(),
  },
  { title: 'V1ResponseUsage', about: 'Tokens, as the model counted them.' },
)

export const ResponseShape = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response'),
    created_at: seconds,
    completed_at: nullable(seconds),
    status: Type.Enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'], {
      title: 'V1ResponseStatus',
      about: 'How far a response is.',
    }),
    background: Type.Boolean(),
    error: nullable(
      Type.Object(
        { code: Type.String(), message: Type.String() },
        { title: 'V1ResponseError', about: 'Why a response failed.' },
      ),
    ),
    incomplete_details: nullable(
      Type.Object({
        reason: Type.Enum(['max_output_tokens', 'content_filter'], {
          title: 'V1IncompleteReason',
          about: 'Why an answer is not whole.',
        }),
      }),
    ),
    model: Type.String(),
    instructions: nullable(Type.String()),
    previous_response_id: nullable(Type.String()),
    conversation: nullable(Type.Object({ id: Type.String() })),
    output: Type.Array(OutputItem),
    output_text: Type.String({ description: 'The texts of the output, joined.' }),
    warnings: Type.Optional(
      Type.Array(Type.Object({ code: Type.String(), message: Type.String(), param: Type.String() }), {
        description: 'What of the request was left out, and why.',
      }),
    ),
    tools: Type.Array(anyObject),
    tool_choice: Type.Union([Type.String(), anyObject]),
    parallel_tool_calls: Type.Boolean(),
    max_output_tokens: nullable(Type.Integer()),
    max_tool_calls: nullable(Type.Integer()),
    temperature: Type.Number(),
    top_p: Type.Number(),
    presence_penalty: Type.Number(),
    frequency_penalty: Type.Number(),
    top_logprobs: Type.Integer(),
    text: anyObject,
    reasoning: anyObject,
    truncation: Type.Enum(['auto', 'disabled'], { title: 'V1Truncation' }),
    service_tier: Type.String(),
    store: Type.Boolean(),
    user: nullable(Type.String()),
    safety_identifier: nullable(Type.String()),
    prompt_cache_key: nullable(Type.String()),
    metadata: Metadata,
    usage: nullable(Usage),
  },
  { title: 'V1Response', about: 'An answer, as far as it is.' },
)
export type ResponseShape = Static<typeof ResponseShape>

export const ResponseItemList = listOf(ResponseItem, 'V1ResponseItemList', 'A page of items.')
