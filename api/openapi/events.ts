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

type Events = Record<string, TSchema>

const runEvents: Events = { start: RunStarting, metadata: RunMetadata, data: RunData, end: RunEnd, error: RunError }
const ingestionEvents: Events = { progress: Ingestion, end: RunEnd }
const chatEvents: Events = { message: CompatChunk, done: Done, error: CompatFailure }
const threadRunEvents: Events = {
  'thread.created': CompatThread,
  'thread.run.created': CompatRun,
  'thread.run.queued': CompatRun,
  'thread.run.in_progress': CompatRun,
  'thread.run.step.created': CompatRunStep,
  'thread.run.step.in_progress': CompatRunStep,
  'thread.message.created': CompatMessage,
  'thread.message.in_progress': CompatMessage,
  'thread.message.delta': CompatMessageDelta,
  'thread.message.completed': CompatMessage,
  'thread.message.incomplete': CompatMessage,
  'thread.run.step.completed': CompatRunStep,
  'thread.run.step.failed': CompatRunStep,
  'thread.run.step.cancelled': CompatRunStep,
  'thread.run.completed': CompatRun,
  'thread.run.failed': CompatRun,
  'thread.run.cancelled': CompatRun,
  done: Done,
  error: CompatFailure,
}

/** The events of each operation that streams. */
const eventsByOperation = new Map<string, Events>([
  ['runs.stream', runEvents],
  ['runs.join', runEvents],
  ['public.runs.stream', runEvents],
  ['public.runs.join', runEvents],
  ['files.ingestionEvents', ingestionEvents],
  ...(['compat', 'public'] as const).flatMap((family): [string, Events][] => [
    [`${family}.chat.completions.create`, chatEvents],
    [`${family}.threads.runs.create`, threadRunEvents],
    [`${family}.threads.createAndRun`, threadRunEvents],
  ]),
])

/** Components of all events, for those that no answer refers to. */
export const eventComponents: Record<string, TSchema> = Object.fromEntries(
  [...eventsByOperation.values()].flatMap((events) => Object.values(events).map((schema) => [titleOf(schema), schema])),
)

/**
 * `x-events` of an operation that streams: the component of each event's data. OpenAPI 3.1 has no standard member
 * for it.
 */
export function linkedEvents(operationId: string | undefined): { 'x-events'?: Record<string, { $ref: string }> } {
  const events = operationId === undefined ? undefined : eventsByOperation.get(operationId)
  if (events === undefined) return {}
  const links = Object.entries(events).map(([name, schema]): [string, { $ref: string }] => [
    name,
    { $ref: `#/components/schemas/${titleOf(schema)}` },
  ])
  return { 'x-events': Object.fromEntries<{ $ref: string }>(links) }
}

function titleOf(schema: TSchema): string {
  const title: unknown = 'title' in schema ? schema.title : undefined
  if (typeof title !== 'string') throw new Error('an event has no title')
  return title
}
