import Type, { type Static, type TSchema } from 'typebox'
import { ClientFunction, maxClientFunctions } from '../../../domain/client-tools.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { TokenLogprob } from '../../../domain/messages.ts'
import { freeForm, nullable } from '../schemas.ts'
import { chatParameters, endUserMembers } from './model-parameters.ts'

const text = Type.String({ maxLength: requestLimits.messageLength })
const name = Type.String({ maxLength: requestLimits.nameLength })
const foreignId = Type.String({ minLength: 1, maxLength: requestLimits.foreignIdLength })

/** Checked once the role of its message is known. */
const asPart = Type.Unknown({ description: 'As in `ContentPartInput`.' })

/** Schemas of the chat-completions API, following the types of the `openai` package (resources/chat/completions). */
export const ContentPart = Type.Object(
  {
    type: name,
    text: Type.Optional(text),
    refusal: Type.Optional(text),
    image_url: Type.Optional(asPart),
    input_audio: Type.Optional(asPart),
    file: Type.Optional(asPart),
  },
  {
    title: 'CompatContentPart',
    about: 'A part of a message.',
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
    role: Type.Enum(['system', 'developer', 'user', 'assistant', 'tool', 'function'], {
      title: 'CompatChatRole',
      about: 'Who a message is from.',
    }),
    content: Type.Optional(nullable(Content)),
    refusal: Type.Optional(nullable(text)),
    name: Type.Optional(nullable(name)),
    tool_calls: Type.Optional(nullable(Type.Array(ClientToolCall, { maxItems: requestLimits.toolCalls }))),
    function_call: Type.Optional(
      nullable(
        Type.Object({ name, arguments: text }, { description: 'The old name of a single call in `tool_calls`.' }),
      ),
    ),
    tool_call_id: Type.Optional(nullable(foreignId)),
  },
  { title: 'CompatChatMessage', about: 'A message of a chat completion request.' },
)
export type ChatMessage = Static<typeof ChatMessage>

/** Choices of one request; each is a run. */
export const maxChoices = 8

const ClientTool = Type.Object(
  { type: name, function: Type.Optional(ClientFunction), ...Type.Partial(ClientFunction).properties },
  {
    title: 'CompatClientTool',
    about: 'A tool of the client: a function.',
    description: 'A function of the client, in `function` or flat. Tools of other types are refused.',
  },
)

/** The members of a request that both families take. */
export const chatMembers = {
  messages: Type.Array(ChatMessage, { minItems: 1, maxItems: requestLimits.messages }),
  n: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: maxChoices, description: 'How many answers.' }))),
  stream: Type.Optional(nullable(Type.Boolean())),
  stream_options: Type.Optional(
    nullable(
      Type.Object({
        include_usage: Type.Optional(nullable(Type.Boolean())),
        include_obfuscation: Type.Optional(nullable(Type.Boolean({ description: 'Has no effect.' }))),
      }),
    ),
  ),
  tools: Type.Optional(nullable(Type.Array(ClientTool, { maxItems: maxClientFunctions }))),
  tool_choice: Type.Optional(nullable(Type.Unknown({ description: 'As `ToolChoice`, of functions in `tools`.' }))),
  parallel_tool_calls: Type.Optional(nullable(Type.Boolean())),
  functions: Type.Optional(
    nullable(Type.Array(ClientFunction, { maxItems: maxClientFunctions, description: 'The old name of `tools`.' })),
  ),
  function_call: Type.Optional(
    nullable(
      Type.Union(
        [
          Type.Enum(['none', 'auto'], {
            title: 'CompatFunctionCallMode',
            about: 'Whether the model may call functions (old name of a `tool_choice`).',
          }),
          Type.Object({ name }),
        ],
        {
          description: 'The old name of `tool_choice`.',
        },
      ),
    ),
  ),
  ...chatParameters,
}
const Members = Type.Object(chatMembers)
export type ChatMembers = Static<typeof Members>

export const ChatCompletionRequest = Type.Object(
  {
    model: Type.String({
      maxLength: requestLimits.nameLength,
      description: 'Any name: the token selects the assistant. The answer contains the same name.',
    }),
    store: Type.Optional(
      nullable(Type.Boolean({ description: 'With `false`, the conversation is deleted once it is answered.' })),
    ),
    ...endUserMembers,
    ...chatMembers,
  },
  {
    title: 'CompatChatCompletionRequest',
    about: 'A chat completion request. Members that are not listed are accepted and have no effect.',
    description:
      'Calls of functions in `tools` are answered with `finish_reason: tool_calls`; the tools of the assistant are executed here. Refused with 422, because the answer would be another: `modalities` other than text, `audio`, `prediction` and `web_search_options`. Other members are accepted and have no effect.',
  },
)
export type ChatCompletionRequest = Static<typeof ChatCompletionRequest>

const ToolCallShape = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal('function'),
    function: Type.Object({
      name: Type.String(),
      arguments: Type.String({ description: 'JSON, as the model wrote it.' }),
    }),
  },
  { title: 'CompatToolCall', about: 'A call of a function of the client.' },
)

const Logprobs = Type.Object(
  { content: Type.Array(TokenLogprob), refusal: Type.Null() },
  { title: 'CompatLogprobs', about: 'How probable the tokens of an answer were.' },
)

const CompletionUsage = Type.Object(
  {
    prompt_tokens: Type.Integer(),
    completion_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    prompt_tokens_details: Type.Optional(Type.Object({ cached_tokens: Type.Integer() })),
    completion_tokens_details: Type.Optional(Type.Object({ reasoning_tokens: Type.Integer() })),
  },
  {
    title: 'CompatCompletionUsage',
    about: 'Tokens that a completion took.',
    description: 'The details are there if the provider of the model told them.',
  },
)
export type CompletionUsage = Static<typeof CompletionUsage>

export const ChatCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion'),
    created: Type.Integer({ description: 'Seconds since 1970.' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        message: Type.Object({
          role: Type.Literal('assistant'),
          content: nullable(Type.String()),
          refusal: nullable(Type.String({ description: 'What the model said instead of an answer.' })),
          reasoning_content: Type.Optional(Type.String({ description: 'What the model thought before it answered.' })),
          tool_calls: Type.Optional(Type.Array(ToolCallShape)),
          function_call: Type.Optional(ToolCallShape.properties.function),
        }),
        logprobs: nullable(Logprobs),
        finish_reason: Type.Enum(['stop', 'length', 'tool_calls', 'function_call', 'content_filter'], {
          title: 'CompatFinishReason',
          about: 'Why the model stopped.',
        }),
      }),
    ),
    usage: Type.Optional(CompletionUsage),
    metadata: Type.Optional(freeForm('Of a stored completion.')),
  },
  { title: 'CompatChatCompletion', about: 'A chat completion.' },
)
export type ChatCompletion = Static<typeof ChatCompletion>

/** What a route for completions declares as its answer. */
export const completionOrChunks = <T extends TSchema>(schema: T) => ({
  description: 'The completion; with `stream` its chunks as server-sent events, then `[DONE]`.',
  content: {
    'application/json': { schema },
    'text/event-stream': { schema: Type.String() },
  },
})
