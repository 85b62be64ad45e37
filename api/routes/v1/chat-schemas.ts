import Type, { type Static } from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import { Metadata } from '../../../domain/metadata.ts'
import { chatMembers } from '../public/chat-schemas.ts'
import { ListQuery, listOf } from '../public/thread-schemas.ts'
import { nullable } from '../schemas.ts'
import { strict } from './v1-route.ts'

const unsupported = (why: string) => Type.Optional(Type.Unknown({ description: `Refused: ${why}.` }))
const endUser = (description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: requestLimits.nameLength, description })))

/** Following the types of the `openai` package (resources/chat/completions). */
export const V1ChatRequest = strict(
  {
    model: Type.String({
      minLength: 1,
      maxLength: requestLimits.nameLength,
      description: 'An assistant of the project, by its id or its name, or a model of the settings.',
    }),
    ...chatMembers,
    store: Type.Optional(
      nullable(Type.Boolean({ description: 'With `true`, the completion is kept. By default, nothing is.' })),
    ),
    metadata: Type.Optional(nullable(Metadata)),
    user: endUser('Passed to the model.'),
    safety_identifier: endUser('Passed to the model.'),
    prompt_cache_key: endUser('Passed to the model.'),
    modalities: Type.Optional(Type.Unknown({ description: 'Only `["text"]`.' })),
    audio: unsupported('answers are text'),
    prediction: unsupported('models are not told what to expect'),
    web_search_options: unsupported('a search is a tool of an assistant'),
    moderation: unsupported('answers are not moderated here'),
  },
  { title: 'V1ChatCompletionRequest', about: 'A conversation to answer.' },
)
export type V1ChatRequest = Static<typeof V1ChatRequest>

export const CompletionListQuery = Type.Object({
  ...ListQuery.properties,
  model: Type.Optional(Type.String({ maxLength: requestLimits.nameLength })),
})

export const CompletionUpdateRequest = strict(
  { metadata: nullable(Metadata) },
  { title: 'V1ChatCompletionUpdateRequest', about: 'The metadata of a stored completion.' },
)

const PartShape = Type.Object(
  {
    type: Type.String(),
    text: Type.Optional(Type.String()),
    image_url: Type.Optional(Type.Object({ url: Type.String() })),
  },
  { title: 'V1CompletionContentPart', about: 'A part of a message of a stored completion.' },
)

export const CompletionMessage = Type.Object(
  {
    id: Type.String(),
    role: Type.Enum(['system', 'user', 'assistant', 'tool'], {
      title: 'V1CompletionRole',
      about: 'Who wrote the message.',
    }),
    content: nullable(Type.String()),
    name: Type.Optional(Type.String()),
    content_parts: Type.Union([Type.Array(PartShape), Type.Null()]),
    tool_calls: Type.Optional(Type.Array(Type.Unknown())),
    tool_call_id: Type.Optional(Type.String()),
  },
  { title: 'V1CompletionMessage', about: 'A message that a stored completion answers.' },
)
export const CompletionMessageList = listOf(CompletionMessage, 'V1CompletionMessageList', 'A page of these messages.')
