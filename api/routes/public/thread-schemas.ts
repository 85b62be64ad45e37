import Type, { type Static, type TSchema } from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import { TokenUsage } from '../../../domain/messages.ts'
import { ResponseFormat } from '../../../domain/response-format.ts'
import { PathId, freeForm, nullable } from '../schemas.ts'
import { Content } from './chat-schemas.ts'
import { runParameters } from './model-parameters.ts'

/** Schemas of the assistants API, version 2, following the types of the `openai` package (resources/beta). */
const seconds = Type.Integer({ description: 'Seconds since 1970.' })
const maybeSeconds = nullable(seconds)
const Metadata = freeForm('Stored and returned unchanged.')
const MetadataInput = Type.Optional(nullable(Metadata))

/** A list in the format of the assistants API. */
export const listOf = <T extends TSchema>(entry: T, title: string, about: string) =>
  Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(entry),
      first_id: nullable(Type.String()),
      last_id: nullable(Type.String()),
      has_more: Type.Boolean(),
    },
    { title, about },
  )

const cursor = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }))
export const ListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  order: Type.Enum(['asc', 'desc'], { default: 'desc', title: 'ListOrder', about: 'By time of creation.' }),
  after: cursor,
  before: cursor,
})
export const MessageListQuery = Type.Object({ ...ListQuery.properties, run_id: Type.Optional(PathId) })

export const ThreadParams = Type.Object({ thread_id: PathId })
export const ThreadRunParams = Type.Object({ thread_id: PathId, run_id: PathId })
const EntryId = Type.String({ minLength: 1, maxLength: 200 })
export const ThreadMessageParams = Type.Object({ thread_id: PathId, message_id: EntryId })
export const RunStepParams = Type.Object({ thread_id: PathId, run_id: PathId, step_id: EntryId })

const MessageRole = Type.Enum(['user', 'assistant'], { title: 'CompatMessageRole', about: 'Who a message is from.' })

export const CompatThreadMessageRequest = Type.Object(
  { role: MessageRole, content: Content, metadata: MetadataInput },
  { title: 'CompatThreadMessageRequest', about: 'A message that is added to a thread.' },
)
export type CompatThreadMessageRequest = Static<typeof CompatThreadMessageRequest>

const threadMembers = {
  messages: Type.Optional(nullable(Type.Array(CompatThreadMessageRequest, { maxItems: requestLimits.messages }))),
  metadata: MetadataInput,
}
export const CompatThreadCreateRequest = Type.Object(threadMembers, {
  title: 'CompatThreadCreateRequest',
  about: 'A thread of the assistants API, with its first messages.',
})
export const CompatThreadUpdateRequest = Type.Object(
  { metadata: MetadataInput },
  { title: 'CompatThreadUpdateRequest', about: 'New metadata of a thread.' },
)

const instructions = Type.Optional(nullable(Type.String({ maxLength: requestLimits.configTextLength })))
const runMembers = {
  assistant_id: PathId,
  instructions,
  additional_instructions: instructions,
  additional_messages: Type.Optional(
    nullable(Type.Array(CompatThreadMessageRequest, { maxItems: requestLimits.messages })),
  ),
  metadata: MetadataInput,
  ...runParameters,
  stream: Type.Optional(nullable(Type.Boolean())),
}
const runDescription =
  'Instructions are added to those of the assistant. Refused with 422: a `tool_choice` that demands a tool, `max_prompt_tokens`, a `truncation_strategy` other than `auto`, and files. Members beside these are accepted and have no effect.'
export const CompatRunCreateRequest = Type.Object(runMembers, {
  title: 'CompatRunCreateRequest',
  about:
    'A run of the assistants API. Instructions are added to those of the assistant. Members that are not listed are accepted and have no effect.',
  description: runDescription,
})
export type CompatRunCreateRequest = Static<typeof CompatRunCreateRequest>
export const CompatThreadRunCreateRequest = Type.Object(
  { ...runMembers, thread: Type.Optional(nullable(Type.Object(threadMembers))) },
  {
    title: 'CompatThreadRunCreateRequest',
    about: 'A thread and a run on it, in one request.',
    description: runDescription,
  },
)

export const CompatThread = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('thread'),
    created_at: seconds,
    metadata: Metadata,
    tool_resources: Type.Null(),
  },
  { title: 'CompatThread', about: 'A thread in the shape of the assistants API.' },
)
export type CompatThread = Static<typeof CompatThread>

const FileCitation = Type.Object(
  {
    type: Type.Literal('file_citation'),
    text: Type.String({ description: 'As it stands in the answer, with its brackets.' }),
    start_index: Type.Integer({ description: 'In UTF-16 code units.' }),
    end_index: Type.Integer(),
    file_citation: Type.Object({
      file_id: Type.String(),
      page: Type.Optional(Type.Integer({ description: 'The page that the answer names, from 1.' })),
    }),
  },
  { title: 'CompatFileCitation', about: 'A mention of a file in an answer.' },
)

const TextBlock = Type.Object(
  {
    type: Type.Literal('text'),
    text: Type.Object({ value: Type.String(), annotations: Type.Array(FileCitation) }),
  },
  { title: 'CompatTextBlock', about: 'The text of a message.' },
)

const RefusalBlock = Type.Object(
  {
    type: Type.Literal('refusal'),
    refusal: Type.String({ description: 'What the model said instead of an answer.' }),
  },
  { title: 'CompatRefusalBlock', about: 'What a model said instead of an answer.' },
)

export const CompatMessage = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('thread.message'),
    created_at: seconds,
    completed_at: maybeSeconds,
    incomplete_at: maybeSeconds,
    incomplete_details: nullable(Type.Object({ reason: Type.String() })),
    thread_id: Type.String(),
    assistant_id: nullable(Type.String()),
    run_id: nullable(Type.String()),
    role: MessageRole,
    status: Type.Enum(['in_progress', 'incomplete', 'completed'], {
      title: 'CompatMessageStatus',
      about: 'State of a message.',
    }),
    content: Type.Array(Type.Union([TextBlock, RefusalBlock])),
    attachments: Type.Array(Type.Unknown()),
    metadata: Metadata,
  },
  { title: 'CompatMessage', about: 'A message of a thread in the shape of the assistants API.' },
)
export type CompatMessage = Static<typeof CompatMessage>

export const compatRunStates = ['queued', 'in_progress', 'cancelled', 'failed', 'completed'] as const

export const CompatRun = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('thread.run'),
    created_at: seconds,
    started_at: maybeSeconds,
    completed_at: maybeSeconds,
    cancelled_at: maybeSeconds,
    failed_at: maybeSeconds,
    expires_at: maybeSeconds,
    thread_id: Type.String(),
    assistant_id: Type.String(),
    status: Type.Enum([...compatRunStates], { title: 'CompatRunStatus', about: 'State of a run.' }),
    required_action: Type.Null(),
    last_error: nullable(
      Type.Object({
        code: Type.Enum(['server_error', 'rate_limit_exceeded', 'invalid_prompt'], {
          title: 'CompatRunErrorCode',
          about: 'Why a run failed.',
        }),
        message: Type.String(),
      }),
    ),
    incomplete_details: Type.Null(),
    model: Type.String(),
    instructions: Type.String({ description: "The run's own instructions; those of the assistant are not shown." }),
    tools: Type.Array(Type.Unknown()),
    metadata: Metadata,
    temperature: nullable(Type.Number()),
    top_p: nullable(Type.Number()),
    max_prompt_tokens: Type.Null(),
    max_completion_tokens: nullable(Type.Integer()),
    truncation_strategy: Type.Object({ type: Type.Literal('auto'), last_messages: Type.Null() }),
    tool_choice: Type.Literal('auto'),
    parallel_tool_calls: Type.Boolean(),
    response_format: Type.Union([Type.Literal('auto'), ResponseFormat]),
    usage: nullable(TokenUsage),
  },
  { title: 'CompatRun', about: 'A run in the shape of the assistants API.' },
)
export type CompatRun = Static<typeof CompatRun>

export const StepToolCall = Type.Object({
  id: Type.String(),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), arguments: Type.String(), output: nullable(Type.String()) }),
})

export const CompatRunStep = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('thread.run.step'),
    created_at: seconds,
    completed_at: maybeSeconds,
    cancelled_at: maybeSeconds,
    failed_at: maybeSeconds,
    expired_at: maybeSeconds,
    run_id: Type.String(),
    thread_id: Type.String(),
    assistant_id: Type.String(),
    type: Type.Enum(['message_creation', 'tool_calls'], { title: 'CompatRunStepType', about: 'What a run step does.' }),
    status: Type.Enum(['in_progress', 'cancelled', 'failed', 'completed', 'expired'], {
      title: 'CompatRunStepStatus',
      about: 'State of a run step.',
    }),
    step_details: Type.Union([
      Type.Object({
        type: Type.Literal('message_creation'),
        message_creation: Type.Object({ message_id: Type.String() }),
      }),
      Type.Object({ type: Type.Literal('tool_calls'), tool_calls: Type.Array(StepToolCall) }),
    ]),
    last_error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    metadata: Metadata,
    usage: nullable(TokenUsage),
  },
  { title: 'CompatRunStep', about: 'A step of a run in the shape of the assistants API.' },
)
export type CompatRunStep = Static<typeof CompatRunStep>
