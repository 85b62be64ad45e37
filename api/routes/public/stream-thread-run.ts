import type { FastifyReply } from 'fastify'
import Type, { type TSchema } from 'typebox'
import type { RunRecord } from '../../../domain/records/run.ts'
import type { RunView } from '../../../domain/run-events.ts'
import type { FollowedRun } from '../../../services/runs/index.ts'
import type { CompatErrorObject } from '../../plugins/compat-errors.ts'
import { type OpenStreams, openEventStream } from '../../sse/event-stream.ts'
import { followRun } from '../../sse/follow-run.ts'
import { brokenStream, endOf } from './run-end.ts'
import { type RunEvent, type RunEventsOptions, createRunEvents } from './run-events.ts'
import type { CompatRunStep } from './thread-schemas.ts'

/** The answer of a request that starts or continues a run. */
export const runOrStream = <Run extends TSchema>(run: Run) => ({
  200: {
    description: 'The run; with `stream` its events as server-sent events, the last one being `done`.',
    content: { 'application/json': { schema: run }, 'text/event-stream': { schema: Type.String() } },
  },
})

interface StreamOptions extends RunEventsOptions {
  openStreams: Pick<OpenStreams, 'track'>
  /** The run's record, for the last event. */
  reread(): Promise<RunRecord>
  /** A run that waits for its client, as its API shows it: then the stream ends. By default it stays open. */
  waitingShapeOf?(run: RunRecord): Promise<object | undefined>
  /** How the API shows a step, if not as it is. */
  stepShapeOf?(step: CompatRunStep): object
  /** The stream begins after what this state shows: its reader resumes the run. */
  resumedFrom?: RunView
  /** A thread that was created with the run: it is announced first. */
  newThread?: object
}

/**
 * Sends a run as the events of the assistants API, up to its last one and `done`. A stream that cannot continue
 * ends with an `error` event; no text is sent twice.
 */
export function streamThreadRun(
  reply: FastifyReply,
  { run, feed }: FollowedRun,
  {
    openStreams,
    reread,
    newThread,
    waitingShapeOf,
    stepShapeOf = (step) => step,
    resumedFrom,
    ...options
  }: StreamOptions,
): FastifyReply {
  const stream = openEventStream(reply)
  const events = createRunEvents(run, options, () => new Date())
  let anyText = false
  const sendAll = (all: RunEvent[]) => {
    for (const { name, data } of all) {
      stream.send({ name, data: JSON.stringify(isStep(data) ? stepShapeOf(data) : data) })
      anyText ||= name === 'thread.message.delta'
    }
  }
  const sendError = (error: CompatErrorObject) => {
    sendAll(events.abandon())
    stream.send({ name: 'error', data: JSON.stringify({ error }) })
  }
  if (newThread !== undefined) sendAll([{ name: 'thread.created', data: newThread }])
  sendAll(resumedFrom === undefined ? events.begin() : events.skip(resumedFrom))

  /** The run waits for its client; the state may be older than a resumption, so that the record decides. */
  async function sendWaiting(): Promise<boolean> {
    const stored = await reread()
    const shape = stored.status === 'interrupted' ? await waitingShapeOf?.(stored) : undefined
    if (shape === undefined) return false
    sendAll([{ name: 'thread.run.requires_action', data: shape }])
    stream.send({ name: 'done', data: '[DONE]' })
    return true
  }

  const { finished, stop } = followRun(stream, feed, {
    async send(view) {
      const end = endOf(view)
      const news = events.advance(view)
      sendAll(news.events)
      if (news.contradicted && end?.type !== 'error') {
        sendError(brokenStream.contradicted)
        return 'over'
      }
      if (view.terminal?.type === 'interrupted' && waitingShapeOf && (await sendWaiting())) return 'over'
      if (end === undefined) return anyText ? 'sent' : 'waiting'
      sendAll(events.end(await reread()))
      stream.send({ name: 'done', data: '[DONE]' })
      return 'over'
    },
    giveUp: (reason) => sendError(brokenStream[reason]),
    onError: (error) => reply.log.error({ err: error }, 'a stream of the compat family failed'),
  })
  openStreams.track(finished, stop)
  return reply
}

function isStep(data: object): data is CompatRunStep {
  return 'object' in data && data.object === 'thread.run.step'
}
