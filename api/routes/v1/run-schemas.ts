import Type, { type Static } from 'typebox'
import { functionName } from '../../../domain/client-tools.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { reasoningEfforts } from '../../../domain/reasoning-efforts.ts'
import { runParameters } from '../public/model-parameters.ts'
import { CompatRun } from '../public/thread-schemas.ts'
import { PathId, nullable } from '../schemas.ts'
import { AssistantTools, V1Tool, V1ToolResources } from './assistant-schemas.ts'
import { V1ThreadCreateRequest, additionalMessages, metadata } from './thread-schemas.ts'
import { strict } from './v1-route.ts'

/** Following the types of the `openai` package (resources/beta/threads/runs). */
const instructions = Type.Optional(nullable(Type.String({ maxLength: 256_000 })))
const tokens = Type.Integer({ minimum: 256, maximum: 2 ** 31 - 1 })

const V1ToolChoice = Type.Union(
  [
    Type.Enum(['none', 'auto', 'required'], {
      title: 'V1RunToolChoiceMode',
      about: 'Whether the model may or must call a tool.',
    }),
    strict(
      {
        type: Type.Enum(['function', 'file_search', 'code_interpreter'], {
          title: 'V1ChosenToolType',
          about: 'Kind of the tool.',
        }),
        function: Type.Optional(strict({ name: functionName })),
      },
      { title: 'V1ChosenTool', about: 'One tool.' },
    ),
  ],
  { title: 'V1ToolChoice', about: 'Which tools the model may or must call.' },
)

const TruncationStrategy = strict(
  {
    type: Type.Enum(['auto', 'last_messages'], {
      title: 'V1TruncationType',
      about: 'All that fits, or the last messages.',
    }),
    last_messages: Type.Optional(nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }))),
  },
  { title: 'V1TruncationStrategy', about: 'How much of the thread the model is shown.' },
)

const members = {
  assistant_id: PathId,
  instructions,
  model: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 200 }))),
  tools: Type.Optional(nullable(Type.Array(V1Tool, { maxItems: 128 }))),
  tool_choice: Type.Optional(nullable(V1ToolChoice)),
  parallel_tool_calls: Type.Optional(Type.Boolean()),
  metadata,
  temperature: runParameters.temperature,
  top_p: runParameters.top_p,
  response_format: runParameters.response_format,
  reasoning_effort: Type.Optional(
    nullable(
      Type.Enum([...reasoningEfforts], {
        title: 'V1ReasoningEffort',
        about: 'How hard the model thinks before it answers.',
      }),
    ),
  ),
  max_prompt_tokens: Type.Optional(nullable(tokens)),
  max_completion_tokens: Type.Optional(nullable(tokens)),
  truncation_strategy: Type.Optional(nullable(TruncationStrategy)),
  stream: Type.Optional(nullable(Type.Boolean())),
}

export const V1RunCreateRequest = strict(
  { ...members, additional_instructions: instructions, additional_messages: additionalMessages },
  { title: 'V1RunCreateRequest', about: 'A run, and what it changes for itself.' },
)
export type V1RunCreateRequest = Static<typeof V1RunCreateRequest>

export const V1ThreadRunCreateRequest = strict(
  {
    ...members,
    thread: Type.Optional(nullable(V1ThreadCreateRequest)),
    tool_resources: Type.Optional(nullable(V1ToolResources)),
  },
  { title: 'V1ThreadRunCreateRequest', about: 'A run on a new thread.' },
)

export const V1RunUpdateRequest = strict({ metadata }, { title: 'V1RunUpdateRequest', about: 'The metadata of a run.' })

export const V1SubmitToolOutputsRequest = strict(
  {
    tool_outputs: Type.Array(
      strict({
        tool_call_id: Type.Optional(Type.String({ maxLength: requestLimits.foreignIdLength })),
        output: Type.Optional(nullable(Type.String({ maxLength: requestLimits.messageLength }))),
      }),
      { minItems: 1, maxItems: requestLimits.toolCalls },
    ),
    stream: Type.Optional(nullable(Type.Boolean())),
  },
  { title: 'V1SubmitToolOutputsRequest', about: 'The results of the functions for which a run waits, all of them.' },
)

const RequiredCall = Type.Object({
  id: Type.String(),
  type: Type.Literal('function'),
  function: Type.Object({ name: Type.String(), arguments: Type.String() }),
})

export const v1RunStates = [
  'queued',
  'in_progress',
  'requires_action',
  'cancelling',
  'cancelled',
  'failed',
  'completed',
  'incomplete',
  'expired',
] as const

export const V1Run = Type.Object(
  {
    ...CompatRun.properties,
    status: Type.Enum([...v1RunStates], { title: 'V1RunStatus', about: 'How far a run is.' }),
    required_action: nullable(
      Type.Object({
        type: Type.Literal('submit_tool_outputs'),
        submit_tool_outputs: Type.Object({ tool_calls: Type.Array(RequiredCall) }),
      }),
    ),
    incomplete_details: nullable(
      Type.Object({
        reason: Type.Enum(['max_completion_tokens', 'max_prompt_tokens'], {
          title: 'V1RunIncompleteReason',
          about: 'The limit that the run reached.',
        }),
      }),
    ),
    instructions: Type.String(),
    tools: AssistantTools,
    max_prompt_tokens: nullable(Type.Integer()),
    truncation_strategy: Type.Object({
      type: Type.Enum(['auto', 'last_messages'], { title: 'V1TruncationType' }),
      last_messages: nullable(Type.Integer()),
    }),
    tool_choice: Type.Unknown({ description: 'As it was asked for; `auto` otherwise.' }),
  },
  { title: 'V1Run', about: 'A run in the shape of the assistants API.' },
)
export type V1Run = Static<typeof V1Run>
