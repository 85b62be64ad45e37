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
const RunStarting = Type.Object({ status: Type.Literal('starting') }, { title: 'RunStartEvent' })
const RunMetadata = Type.Object(
  {
    run_id: Type.String(),
    thread_id: Type.String(),
    kept: Type.Optional(
      Type.Literal(true, { description: 'Of a public run: who may change the assistant reads the chat.' }),
    ),
  },
  { title: 'RunMetadataEvent' },
)
const RunData = Type.Array(Type.Union([Message, MessageDelta]), { title: 'RunDataEvent' })
const RunEnd = Type.Literal('', { title: 'EndEvent' })
const Done = Type.Literal('[DONE]', { title: 'CompatDoneEvent' })
const CompatFailure = Type.Object({ error: CompatErrorObject }, { title: 'CompatErrorEvent' })

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
  { title: 'CompatChatCompletionChunk' },
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
  { title: 'CompatTextCompletionChunk' },
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
  { title: 'CompatMessageDelta' },
)

const V1StepDelta = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('thread.run.step.delta'),
    delta: Type.Object({ step_details: Type.Unknown() }),
  },
  { title: 'V1RunStepDelta' },
)
const ResponseEvent = Type.Object(
  { type: Type.String(), sequence_number: Type.Integer() },
  { title: 'V1ResponseEvent' },
)

type Events = readonly (readonly [event: string, data: TSchema])[]

/** The events of a stream as one component: each with its name, and its data parsed from JSON. */
function streamOf(title: string, events: Events): TSchema {
  return Type.Union(
    events.map(([event, data]) => Type.Object({ event: Type.Literal(event), data })),
    { title },
  )
}

function namedEvents(prefix: string, states: readonly string[], data: TSchema): Events {
  return states.map((state): Events[number] => [`${prefix}.${state}`, data])
}

const runStream = streamOf('RunStreamEvent', [
  ['start', RunStarting],
  ['metadata', RunMetadata],
  ['data', RunData],
  ['end', RunEnd],
  ['error', RunError],
])
const ingestionStream = streamOf('IngestionStreamEvent', [
  ['progress', Ingestion],
  ['end', RunEnd],
])
/** Without names on the wire, which makes each of them a `message`. */
const chatStream = streamOf('CompatChatStreamEvent', [
  ['message', CompatChunk],
  ['message', Done],
  ['message', CompatFailure],
])
const textStream = streamOf('CompatTextStreamEvent', [
  ['message', CompatTextChunk],
  ['message', Done],
  ['message', CompatFailure],
])
const threadRunStream = streamOf('CompatThreadRunStreamEvent', [
  ['thread.created', CompatThread],
  ...namedEvents('thread.run', ['created', ...compatRunStates], CompatRun),
  ...namedEvents('thread.run.step', stepStates, CompatRunStep),
  ...namedEvents('thread.message', messageStates, CompatMessage),
  ['thread.message.delta', CompatMessageDelta],
  ['done', Done],
  ['error', CompatFailure],
])
const v1RunStream = streamOf('V1RunStreamEvent', [
  ['thread.created', CompatThread],
  ...namedEvents('thread.run', ['created', ...v1RunStates], V1Run),
  ...namedEvents('thread.run.step', stepStates, V1RunStep),
  ['thread.run.step.delta', V1StepDelta],
  ...namedEvents('thread.message', messageStates, CompatMessage),
  ['thread.message.delta', CompatMessageDelta],
  ['done', Done],
  ['error', V1Error],
])
const v1ChatStream = streamOf('V1ChatStreamEvent', [
  ['message', CompatChunk],
  ['message', Done],
  ['message', V1Error],
])
const v1TextStream = streamOf('V1TextStreamEvent', [
  ['message', CompatTextChunk],
  ['message', Done],
  ['message', V1Error],
])
const responseStream = streamOf(
  'V1ResponseStreamEvent',
  [...responseEventTypes, 'error'].map((name): Events[number] => [name, ResponseEvent]),
)

const mcpStream = streamOf('McpStreamEvent', [
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
