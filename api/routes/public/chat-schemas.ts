import Type, { type Static } from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import { TokenUsage } from '../../../domain/messages.ts'
import { nullable } from '../schemas.ts'
import { chatParameters } from './model-parameters.ts'

const text = Type.String({ maxLength: requestLimits.messageLength })
const name = Type.String({ maxLength: requestLimits.nameLength })
const foreignId = Type.String({ maxLength: requestLimits.foreignIdLength })

/** Schemas of the chat-completions API, following the types of the `openai` package (resources/chat/completions). */
export const ContentPart = Type.Object(
  {
    type: name,
    text: Type.Optional(text),
    refusal: Type.Optional(text),
    image_url: Type.Optional(Type.Unknown()),
    input_audio: Type.Optional(Type.Unknown()),
    file: Type.Optional(Type.Unknown()),
  },
  {
    title: 'CompatContentPart',
    description:
      'Parts of the types `text` and `refusal`; of a message of the role `user` also `image_url`, `input_audio` and `file`, as `ContentPartInput` describes them. Others are refused.',
  },
)
export type ContentPart = Static<typeof ContentPart>

export const Content = Type.Union([text, Type.Array(ContentPart, { maxItems: requestLimits.messages })])

const ClientToolCall = Type.Object({
  id: foreignId,
  function: Type.Optional(Type.Object({ name, arguments: text })),
})

export const ChatMessage = Type.Object(
  {
    role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool'], { title: 'CompatChatRole' }),
    content: Type.Optional(nullable(Content)),
    refusal: Type.Optional(nullable(text)),
    name: Type.Optional(nullable(name)),
    tool_calls: Type.Optional(nullable(Type.Array(ClientToolCall, { maxItems: requestLimits.toolCalls }))),
    tool_call_id: Type.Optional(nullable(foreignId)),
  },
  { title: 'CompatChatMessage' },
)
export type ChatMessage = Static<typeof ChatMessage>

export const ChatCompletionRequest = Type.Object(
  {
    model: Type.String({
      maxLength: requestLimits.nameLength,
      description: 'Any name: the token selects the assistant. The answer contains the same name.',
    }),
    messages: Type.Array(ChatMessage, { minItems: 1, maxItems: requestLimits.messages }),
    store: Type.Optional(
      nullable(Type.Boolean({ description: 'With `false`, the conversation is deleted once it is answered.' })),
    ),
    stream: Type.Optional(nullable(Type.Boolean())),
    stream_options: Type.Optional(nullable(Type.Object({ include_usage: Type.Optional(nullable(Type.Boolean())) }))),
    ...chatParameters,
  },
  {
    title: 'CompatChatCompletionRequest',
    description:
      'Refused with 422, because the answer would be another: `n` above 1, `logprobs`, `logit_bias`, `modalities` other than text, `web_search_options`, and a `tool_choice` or `function_call` that demands a tool. Other members are accepted and have no effect; so have `tools`: the assistant brings its own.',
  },
)
export type ChatCompletionRequest = Static<typeof ChatCompletionRequest>

export const ChatCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Seconds since 1970.' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({ role: Type.Literal('assistant'), content: Type.String(), refusal: Type.Null() }),
        logprobs: Type.Null(),
        finish_reason: Type.Enum(['stop', 'length', 'content_filter'], { title: 'CompatFinishReason' }),
      }),
    ),
    usage: Type.Optional(TokenUsage),
  },
  { title: 'CompatChatCompletion' },
)
export type ChatCompletion = Static<typeof ChatCompletion>
