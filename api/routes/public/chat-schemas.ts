import Type, { type Static } from 'typebox'
import { TokenUsage } from '../../../domain/messages.ts'

export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])

/** Shapes of the chat-completions interface, after the `openai` package's types (resources/chat/completions). */
export const ContentPart = Type.Object(
  { type: Type.String(), text: Type.Optional(Type.String()), refusal: Type.Optional(Type.String()) },
  { title: 'CompatContentPart', description: 'Parts of the types `text` and `refusal` are read; others are refused.' },
)
export type ContentPart = Static<typeof ContentPart>

export const Content = Type.Union([Type.String(), Type.Array(ContentPart)])

const ClientToolCall = Type.Object({
  id: Type.String(),
  function: Type.Optional(Type.Object({ name: Type.String(), arguments: Type.String() })),
})

export const ChatMessage = Type.Object(
  {
    role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool']),
    content: Type.Optional(nullable(Content)),
    name: Type.Optional(nullable(Type.String())),
    tool_calls: Type.Optional(nullable(Type.Array(ClientToolCall))),
    tool_call_id: Type.Optional(nullable(Type.String())),
  },
  { title: 'CompatChatMessage' },
)
export type ChatMessage = Static<typeof ChatMessage>

export const Temperature = Type.Optional(nullable(Type.Number({ minimum: 0, maximum: 2 })))
export const TokenLimit = Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })))

export const ChatCompletionRequest = Type.Object(
  {
    model: Type.String({ description: 'Any name: the token selects the assistant. It comes back in the answer.' }),
    messages: Type.Array(ChatMessage, { minItems: 1 }),
    stream: Type.Optional(nullable(Type.Boolean())),
    stream_options: Type.Optional(nullable(Type.Object({ include_usage: Type.Optional(nullable(Type.Boolean())) }))),
    temperature: Temperature,
    max_tokens: TokenLimit,
    max_completion_tokens: TokenLimit,
  },
  {
    title: 'CompatChatCompletionRequest',
    description: 'Members beside these are accepted and have no effect; so has `tools`: the assistant brings its own.',
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
        finish_reason: Type.Enum(['stop', 'length', 'content_filter']),
      }),
    ),
    usage: Type.Optional(TokenUsage),
  },
  { title: 'CompatChatCompletion' },
)
export type ChatCompletion = Static<typeof ChatCompletion>
