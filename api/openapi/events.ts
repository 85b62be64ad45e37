import Type, { type TSchema } from 'typebox'
import { Message, MessageDelta } from '../../domain/messages.ts'
import { CompatErrorObject } from '../plugins/compat-errors.ts'
import { Ingestion } from '../routes/files/schemas.ts'
import { CompatMessage, CompatRun, CompatRunStep, CompatThread } from '../routes/public/thread-schemas.ts'
import { RunError } from '../routes/runs/schemas.ts'

/**
 * The data of the server-sent events, by the name of the event. `docs/events.md` and `/docs` describe the same
 * events.
 */
const RunStarting = Type.Object({ status: Type.Literal('starting') }, { title: 'RunStartEvent' })
const RunMetadata = Type.Object({ run_id: Type.String(), thread_id: Type.String() }, { title: 'RunMetadataEvent' })
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
        }),
        logprobs: Type.Null(),
        finish_reason: Type.Union([Type.String(), Type.Null()]),
      }),
    ),
  },
  { title: 'CompatChatCompletionChunk' },
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

type Events = readonly (readonly [event: string, data: TSchema])[]

/** The events of a stream as one component: each with its name, and its data parsed from JSON. */
function streamOf(title: string, events: Events): TSchema {
  return Type.Union(
    events.map(([event, data]) => Type.Object({ event: Type.Literal(event), data })),
    { title },
  )
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
const threadRunStream = streamOf('CompatThreadRunStreamEvent', [
  ['thread.created', CompatThread],
  ['thread.run.created', CompatRun],
  ['thread.run.queued', CompatRun],
  ['thread.run.in_progress', CompatRun],
  ['thread.run.step.created', CompatRunStep],
  ['thread.run.step.in_progress', CompatRunStep],
  ['thread.message.created', CompatMessage],
  ['thread.message.in_progress', CompatMessage],
  ['thread.message.delta', CompatMessageDelta],
  ['thread.message.completed', CompatMessage],
  ['thread.message.incomplete', CompatMessage],
  ['thread.run.step.completed', CompatRunStep],
  ['thread.run.step.failed', CompatRunStep],
  ['thread.run.step.cancelled', CompatRunStep],
  ['thread.run.completed', CompatRun],
  ['thread.run.failed', CompatRun],
  ['thread.run.cancelled', CompatRun],
  ['done', Done],
  ['error', CompatFailure],
])

/** The stream of each operation that can answer with one. */
const streams = new Map<string, TSchema>([
  ['runs.stream', runStream],
  ['runs.join', runStream],
  ['public.runs.stream', runStream],
  ['public.runs.join', runStream],
  ['files.ingestionEvents', ingestionStream],
  ...(['compat', 'public'] as const).flatMap((family): [string, TSchema][] => [
    [`${family}.chat.completions.create`, chatStream],
    [`${family}.threads.runs.create`, threadRunStream],
    [`${family}.threads.createAndRun`, threadRunStream],
  ]),
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
