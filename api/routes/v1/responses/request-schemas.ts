import Type, { type Static } from 'typebox'
import { AnyKey } from '../../../../domain/any-key.ts'
import { requestLimits } from '../../../../domain/limits.ts'
import { Metadata } from '../../../../domain/metadata.ts'
import { nullable } from '../../schemas.ts'
import { strict } from '../v1-route.ts'
import { Input } from './input-schemas.ts'
import { RequestTool } from './tool-schemas.ts'

/** Requests of the responses API, following the types of the `openai` package (resources/responses). */

const maybe = <T extends Type.TSchema>(schema: T) => Type.Optional(nullable(schema))
const label = Type.String({ minLength: 1, maxLength: 64 })
const itemId = Type.String({ minLength: 1, maxLength: 200 })
const anyObject = Type.Record(AnyKey, Type.Unknown())

const ChosenTool = Type.Object(
  {
    type: Type.String({ maxLength: 64 }),
    name: Type.Optional(Type.String({ maxLength: 64 })),
    namespace: Type.Optional(Type.String({ maxLength: 64 })),
    server_label: Type.Optional(label),
  },
  { title: 'V1AllowedTool', about: 'A tool that may be called.' },
)
export const RequestToolChoice = Type.Union(
  [
    Type.Enum(['none', 'auto', 'required'], {
      title: 'V1ToolChoiceMode',
      about: 'Whether tools may or must be called.',
    }),
    strict({
      type: Type.String({
        maxLength: 64,
        description: '`allowed_tools`, or the type of a tool of the request.',
      }),
      name: Type.Optional(Type.String({ maxLength: 64 })),
      namespace: Type.Optional(Type.String({ maxLength: 64 })),
      mode: Type.Optional(
        Type.Enum(['auto', 'required'], {
          title: 'V1AllowedToolsMode',
          about: 'Whether one of the tools must be called.',
        }),
      ),
      tools: Type.Optional(Type.Array(ChosenTool, { minItems: 1, maxItems: 128 })),
      server_label: Type.Optional(label),
    }),
  ],
  { title: 'V1RequestedToolChoice', about: 'Which tools the model may or must call.' },
)
export type RequestToolChoice = Static<typeof RequestToolChoice>

const TextFormat = strict(
  {
    type: Type.Enum(['text', 'json_object', 'json_schema'], { title: 'V1TextFormatType', about: 'Kind of a format.' }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    schema: Type.Optional(anyObject),
    strict: maybe(Type.Boolean()),
  },
  { title: 'V1TextFormat', about: 'The format of the answer.' },
)
export type TextFormat = Static<typeof TextFormat>

const instructions = maybe(
  Type.String({
    maxLength: requestLimits.configTextLength,
    description: 'In addition to those of an assistant. Not carried over to the next response.',
  }),
)
const text = maybe(
  strict({
    format: Type.Optional(TextFormat),
    verbosity: maybe(
      Type.Enum(['low', 'medium', 'high'], { title: 'V1Verbosity', about: 'How long the answer is to be.' }),
    ),
  }),
)
const reasoning = maybe(
  strict(
    {
      effort: maybe(Type.String({ maxLength: 16 })),
      summary: maybe(Type.String({ maxLength: 16 })),
      generate_summary: maybe(Type.String({ maxLength: 16 })),
    },
    { title: 'V1AskedReasoning', about: 'How much the model thinks, and whether a summary is wanted.' },
  ),
)
const truncation = maybe(Type.Enum(['auto', 'disabled'], { title: 'V1Truncation', about: '`disabled` is refused.' }))
const tools = maybe(Type.Array(RequestTool, { maxItems: 128 }))

/** What can be counted: what would be answered, without how. */
export const InputTokensRequest = strict(
  {
    model: maybe(Type.String({ minLength: 1, maxLength: 500 })),
    input: maybe(Input),
    instructions,
    previous_response_id: maybe(itemId),
    conversation: maybe(Type.Union([itemId, strict({ id: itemId })])),
    tools,
    tool_choice: maybe(RequestToolChoice),
    parallel_tool_calls: maybe(Type.Boolean()),
    text,
    reasoning,
    truncation,
    personality: Type.Optional(Type.String({ maxLength: 64, description: 'Has no effect: models have one.' })),
  },
  { title: 'V1InputTokensRequest', about: 'A question, as for a response.' },
)

export const ResponseCompactRequest = strict(
  {
    model: Type.String({ minLength: 1, maxLength: 500, description: 'The model, or the assistant, that summarises.' }),
    input: maybe(Input),
    instructions,
    previous_response_id: maybe(itemId),
    prompt_cache_key: maybe(Type.String({ maxLength: 512 })),
    service_tier: maybe(Type.String({ maxLength: 64 })),
  },
  { title: 'V1ResponseCompactRequest', about: 'The conversation that is to be summarised.' },
)

export const ResponseCreateRequest = strict(
  {
    model: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'An assistant of the project, by its id or name, or a model of the settings.',
    }),
    input: Type.Optional(Input),
    instructions,
    previous_response_id: maybe(itemId),
    conversation: maybe(Type.Union([itemId, strict({ id: itemId })])),
    stream: maybe(Type.Boolean()),
    stream_options: maybe(
      strict(
        { include_obfuscation: Type.Optional(Type.Boolean()) },
        { title: 'V1ResponseStreamOptions', about: 'Options of a streamed response.' },
      ),
    ),
    background: maybe(Type.Boolean()),
    store: maybe(Type.Boolean({ description: 'False: the response is deleted when it has been answered.' })),
    include: maybe(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 20 })),
    tools,
    tool_choice: maybe(RequestToolChoice),
    parallel_tool_calls: maybe(Type.Boolean()),
    max_output_tokens: maybe(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
    max_tool_calls: maybe(Type.Integer({ minimum: 1, maximum: 10_000 })),
    temperature: maybe(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: maybe(Type.Number({ minimum: 0, maximum: 1 })),
    presence_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
    top_logprobs: maybe(Type.Integer({ minimum: 0, maximum: 20 })),
    text,
    reasoning,
    metadata: maybe(Metadata),
    truncation,
    user: maybe(Type.String({ maxLength: 512 })),
    safety_identifier: maybe(Type.String({ maxLength: 512 })),
    prompt_cache_key: maybe(Type.String({ maxLength: 512 })),
    service_tier: maybe(Type.String({ maxLength: 64 })),
    prompt: Type.Optional(Type.Unknown({ description: 'Refused.' })),
    context_management: maybe(
      Type.Array(
        strict(
          {
            type: Type.Enum(['compaction'], {
              title: 'V1ContextManagementType',
              about: 'A summary takes the place of what was said before.',
            }),
            compact_threshold: maybe(
              Type.Integer({
                minimum: 1000,
                maximum: 2 ** 31 - 1,
                description:
                  'Tokens from which on a summary takes the place of what was said before. Default: three quarters of the window of the model.',
              }),
            ),
          },
          { title: 'V1ContextManagement', about: 'What happens to a conversation that becomes long.' },
        ),
        { maxItems: 1 },
      ),
    ),
    moderation: Type.Optional(Type.Unknown({ description: 'Refused.' })),
    multi_agent: Type.Optional(Type.Unknown({ description: 'Refused, unless `enabled` is false.' })),
  },
  { title: 'V1ResponseCreateRequest', about: 'What to answer, and how.' },
)
export type ResponseCreateRequest = Static<typeof ResponseCreateRequest>
