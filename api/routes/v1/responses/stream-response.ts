import type { FastifyReply } from 'fastify'
import type { Message } from '../../../../domain/messages.ts'
import { ownerRunError } from '../../../../domain/public-run-error.ts'
import type { RunRecord } from '../../../../domain/records/run.ts'
import { type ResponseEvent, createOutputEvents } from '../../../../domain/responses/events.ts'
import { type RunView, toFinalMessage } from '../../../../domain/run-events.ts'
import type { RunFeed } from '../../../../services/runs/index.ts'
import type { ResponseRun } from '../../../../services/v1/responses/index.ts'
import type { Thought } from '../../../../services/v1/responses/sealed-items.ts'
import type { CompatErrorObject } from '../../../plugins/compat-errors.ts'
import { openEventStream } from '../../../sse/event-stream.ts'
import { followRun } from '../../../sse/follow-run.ts'
import { brokenStream, endOf } from '../../public/run-end.ts'
import { type SealThought, type Shown, firstItems, itemContext, toResponse } from './to-response.ts'

interface StreamOptions {
  included: Shown
  /** Seals what the model thought, with what its provider must get back. */
  seal: (run: RunRecord, thought: Thought) => string
  /** Events up to this number were received before. */
  after: number
  /** The run's record, for the last event. */
  reread(): Promise<RunRecord>
}

/**
 * Sends a response as the events of the responses API, up to its last one. The same response always has the same events
 * with the same numbers, so that a reader goes on where it was cut off.
 */
export function streamResponse(
  reply: FastifyReply,
  { response, feed }: { response: ResponseRun; feed: RunFeed },
  { included: requested, seal, after, reread }: StreamOptions,
) {
  const stream = openEventStream(reply)
  const messages = () => messagesOf(feed.view)
  const included = { ...requested, seal: sealOf(response.run, () => feed.view, seal) }
  const output = createOutputEvents(
    itemContext(response, messages, { ...included, isOpen: true }),
    firstItems(response),
  )
  let number = 0
  let anyText = false

  const send = (event: ResponseEvent) => {
    const sequence = number++
    if (sequence <= after) return
    stream.send({ name: event.type, data: JSON.stringify({ ...event, sequence_number: sequence }) })
    anyText ||= event.type === 'response.output_text.delta'
  }
  /** It is none of the response's events: a reader who comes back has not received it. */
  const sendError = ({ message, code }: CompatErrorObject) => {
    const error = { type: 'error', code, message, param: null, sequence_number: Math.max(number, after + 1) }
    stream.send({ name: 'error', data: JSON.stringify(error) })
  }
  // Its items have events of their own.
  const { listed: _listed, compaction: _compaction, ...facts } = response.facts
  const begun = (status: 'queued' | 'in_progress') => ({
    ...toResponse({ run: beginning(response.run), facts }, [], included),
    status,
  })

  const isBackground = response.facts.background === true
  send({ type: 'response.created', response: begun(isBackground ? 'queued' : 'in_progress') })
  if (isBackground) send({ type: 'response.queued', response: begun('queued') })
  let hasBegun = false
  const begin = () => {
    if (!hasBegun) send({ type: 'response.in_progress', response: begun('in_progress') })
    hasBegun = true
  }
  if (!isBackground) begin()

  return followRun(stream, feed, {
    async send(view) {
      const end = endOf(view, ownerRunError)
      if (view.messages.size > 0) begin()
      const news = output.advance([...view.messages.values()], end !== undefined)
      for (const event of news.events) send(event)
      if (news.contradicted && end?.type !== 'error') {
        sendError(brokenStream.contradicted)
        return 'over'
      }
      if (end === undefined) return anyText ? 'sent' : 'waiting'
      begin()
      const run = await reread()
      const shown = toResponse({ ...response, run }, messages(), included)
      const last = shown.status === 'completed' || shown.status === 'incomplete' ? shown.status : 'failed'
      // A call that was not made has events only for those who saw it begin: whoever did still receives the end.
      number = Math.max(number, after + 1)
      send({ type: `response.${last}`, response: shown })
      return 'over'
    },
    giveUp: (reason) => sendError(brokenStream[reason]),
    onError: (error) => reply.log.error({ err: error }, 'a stream of a response failed'),
  })
}

export function sealOf(run: RunRecord, view: () => RunView, seal: StreamOptions['seal']): SealThought {
  return ({ data: { id, reasoning = '' } }) => {
    const content = view().messages.get(id)?.content
    const metadata = content !== undefined && 'whole' in content ? content.sealed : undefined
    return seal(run, { reasoning, ...(metadata === undefined ? {} : { provider_metadata: metadata }) })
  }
}

/** The record as it was when the run began. */
function beginning({ usage: _usage, error: _error, finished_at: _end, ...run }: RunRecord): RunRecord {
  return { ...run, status: 'running' }
}

/** The messages of the run so far. What a run that has ended has begun and not finished is marked as incomplete. */
export function messagesOf(view: RunView): Message[] {
  return [...view.messages.values()].map(toFinalMessage)
}
