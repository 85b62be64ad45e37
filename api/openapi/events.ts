import Type, { type TSchema } from 'typebox'
import { Message, MessageDelta } from '../../domain/messages.ts'
import { responseEventTypes } from '../../domain/responses/event-types.ts'
import { CompatErrorObject, V1Error } from '../plugins/compat-errors.ts'
import { Ingestion } from '../routes/files/schemas.ts'
import { McpProgress, McpResponse } from '../routes/mcp/messages.ts'
import { messageStates, stepStates } from '../routes/public/run-events.ts'
import {
  CompatMessage,
  CompatRun,
  CompatRunStep,
  CompatThread,
  compatRunStates,
} from '../routes/public/thread-schemas.ts'
import { RunError } from '../routes/runs/schemas.ts'
import { V1Run, v1RunStates } from '../routes/v1/run-schemas.ts'
import { V1RunStep } from '../routes/v1/step-objects.ts'

/**
 * The data of the server-sent events, by the name of the event. `docs/events.md` and `/docs` describe the same
 * events.
 */
const RunStarting = Type.Object(
  { status: Type.Literal('starting') },
  { title: 'RunStartEvent', about: 'The first event of a stream.' },
)
const RunMetadata = Type.Object(
  {
    run_id: Type.String(),
    thread_id: Type.String(),
    kept: Type.Optional(
      Type.Literal(true, { description: 'Of a public run: who may change the assistant reads the chat.' }),
    ),
  },
  { title: 'RunMetadataEvent', about: 'Ids of the run and its thread.' },
)
const RunData = Type.Array(Type.Union([Message, MessageDelta]), {
  title: 'RunDataEvent',
  about:
    'The messages that changed: a whole one replaces the earlier message with the same `data.id`; an `AIMessageDelta` adds to its text.',
})
const RunEnd = Type.Literal('', { title: 'EndEvent', about: 'No data: the stream ends with this event.' })
const Done = Type.Literal('[DONE]', { title: 'CompatDoneEvent', about: 'The last event of a successful stream.' })
const CompatFailure = Type.Object(
  { error: CompatErrorObject },
  { title: 'CompatErrorEvent', about: 'The last event of a stream that failed.' },
)

const CompatChunk = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('chat.completion.chunk'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        delta: Type.Object({
          role: Type.Optional(Type.Literal('assistant')),
          content: Type.Optional(Type.String()),
          tool_calls: Type.Optional(Type.Array(Type.Unknown())),
        }),
        logprobs: Type.Unknown(),
        finish_reason: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
  },
  { title: 'CompatChatCompletionChunk', about: 'One chunk of a streamed chat completion.' },
)

const CompatTextChunk = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('text_completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        text: Type.String(),
        logprobs: Type.Unknown(),
        finish_reason: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
  },
  { title: 'CompatTextCompletionChunk', about: 'One chunk of a streamed completion of the older interface.' },
)

const CompatMessageDelta = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('thread.message.delta'),
    delta: Type.Object({
      content: Type.Array(
        Type.Object({
          index: Type.Integer(),
          type: Type.Literal('text'),
          text: Type.Object({ value: Type.String(), annotations: Type.Optional(Type.Array(Type.Unknown())) }),
        }),
      ),
    }),
  },
  { title: 'CompatMessageDelta', about: 'Text that was added to a message.' },
)

const V1StepDelta = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('thread.run.step.delta'),
    delta: Type.Object({ step_details: Type.Unknown() }),
  },
  { title: 'V1RunStepDelta', about: 'Calls that were added to a step.' },
)
const ResponseEvent = Type.Object(
  { type: Type.String(), sequence_number: Type.Integer() },
  { title: 'V1ResponseEvent', about: 'An event of a response, numbered in its order.' },
)

type Events = readonly (readonly [event: string, data: TSchema])[]

/** The events of a stream as one component: each with its name, and its data parsed from JSON. */
function streamOf(title: string, about: string, events: Events): TSchema {
  return Type.Union(
    events.map(([event, data]) => Type.Object({ event: Type.Literal(event), data })),
    { title, about },
  )
}

function namedEvents(prefix: string, states: readonly string[], data: TSchema): Events {
  return states.map((state): Events[number] => [`${prefix}.${state}`, data])
}

const runStream = streamOf('RunStreamEvent', 'An event of the stream of a run.', [
  ['start', RunStarting],
  ['metadata', RunMetadata],
  ['data', RunData],
  ['end', RunEnd],
  ['error', RunError],
])
const ingestionStream = streamOf('IngestionStreamEvent', 'An event of the progress of an ingestion.', [
  ['progress', Ingestion],
  ['end', RunEnd],
])
/** Without names on the wire, which makes each of them a `message`. */
const chatStream = streamOf('CompatChatStreamEvent', 'An event of a streamed chat completion.', [
  ['message', CompatChunk],
  ['message', Done],
  ['message', CompatFailure],
])
const textStream = streamOf('CompatTextStreamEvent', 'An event of a streamed completion of the older interface.', [
  ['message', CompatTextChunk],
  ['message', Done],
  ['message', CompatFailure],
])
const threadRunStream = streamOf('CompatThreadRunStreamEvent', 'An event of a streamed run of the assistants API.', [
  ['thread.created', CompatThread],
  ...namedEvents('thread.run', ['created', ...compatRunStates], CompatRun),
  ...namedEvents('thread.run.step', stepStates, CompatRunStep),
  ...namedEvents('thread.message', messageStates, CompatMessage),
  ['thread.message.delta', CompatMessageDelta],
  ['done', Done],
  ['error', CompatFailure],
])
const v1RunStream = streamOf('V1RunStreamEvent', 'An event of a streamed run of the assistants API.', [
  ['thread.created', CompatThread],
  ...namedEvents('thread.run', ['created', ...v1RunStates], V1Run),
  ...namedEvents('thread.run.step', stepStates, V1RunStep),
  ['thread.run.step.delta', V1StepDelta],
  ...namedEvents('thread.message', messageStates, CompatMessage),
  ['thread.message.delta', CompatMessageDelta],
  ['done', Done],
  ['error', V1Error],
])
const v1ChatStream = streamOf('V1ChatStreamEvent', 'An event of a streamed chat completion.', [
  ['message', CompatChunk],
  ['message', Done],
  ['message', V1Error],
])
const v1TextStream = streamOf('V1TextStreamEvent', 'An event of a streamed completion of the older interface.', [
  ['message', CompatTextChunk],
  ['message', Done],
  ['message', V1Error],
])
const responseStream = streamOf(
  'V1ResponseStreamEvent',
  'An event of a streamed response.',
  [...responseEventTypes, 'error'].map((name): Events[number] => [name, ResponseEvent]),
)

const mcpStream = streamOf('McpStreamEvent', 'An event of the answer to a call.', [
  ['message', McpProgress],
  ['message', McpResponse],
])

/** The stream of each operation that can answer with one. */
const streams = new Map<string, TSchema>([
  ['runs.stream', runStream],
  ['runs.join', runStream],
  ['public.runs.stream', runStream],
  ['public.runs.join', runStream],
  ['files.ingestionEvents', ingestionStream],
  ['compat.chat.completions.create', chatStream],
  ['compat.completions.create', textStream],
  ['compat.threads.runs.create', threadRunStream],
  ['compat.threads.createAndRun', threadRunStream],
  ['v1.chat.completions.create', v1ChatStream],
  ['v1.completions.create', v1TextStream],
  ['v1.threads.runs.create', v1RunStream],
  ['v1.threads.createAndRun', v1RunStream],
  ['v1.threads.runs.submitToolOutputs', v1RunStream],
  ['v1.responses.create', responseStream],
  ['v1.responses.read', responseStream],
  ['mcp.message', mcpStream],
  ['mcp.resume', mcpStream],
])

/** Components of all streams, to which no answer refers. */
export const eventComponents: Record<string, TSchema> = Object.fromEntries(
  [...streams.values()].map((stream) => [titleOf(stream), stream]),
)

/**
 * `x-itemSchema` of an answer that is a stream: what OpenAPI 3.2 calls `itemSchema`, the schema of one event.
 * OpenAPI 3.1, which generators understand, has no member for it.
 */
export function linkedEvents(operationId: string | undefined): { 'x-itemSchema'?: { $ref: string } } {
  const stream = operationId === undefined ? undefined : streams.get(operationId)
  return stream === undefined ? {} : { 'x-itemSchema': { $ref: `#/components/schemas/${titleOf(stream)}` } }
}

function titleOf(schema: TSchema): string {
  const title: unknown = 'title' in schema ? schema.title : undefined
  if (typeof title !== 'string') throw new Error('a stream has no title')
  return title
}
