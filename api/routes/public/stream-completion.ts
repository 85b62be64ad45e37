import type { FastifyReply } from 'fastify'
import type { FollowedRun } from '../../../services/runs/index.ts'
import { type CompatErrorObject, compatRunError } from '../../plugins/compat-errors.ts'
import { openEventStream } from '../../sse/event-stream.ts'
import { followRun } from '../../sse/follow-run.ts'
import { completionChunks, createCompletionText, usageOf } from './completion.ts'
import { brokenStream, endOf } from './run-end.ts'

interface StreamOptions {
  model: string
  includeUsage: boolean
}

/**
 * Sends a run as `chat.completion.chunk`s and `[DONE]`. A failure is a line with a top-level `error` and nothing
 * after it. No text is sent twice, even if the worker dies.
 */
export function streamCompletion(
  reply: FastifyReply,
  { run, feed }: FollowedRun,
  { model, includeUsage }: StreamOptions,
) {
  const stream = openEventStream(reply)
  const chunks = completionChunks({ run, model }, includeUsage)
  const nextText = createCompletionText()
  const send = (value: object) => stream.send({ data: JSON.stringify(value) })
  const sendError = (error: CompatErrorObject) => send({ error })
  let anyText = false
  send(chunks.begin())

  return followRun(stream, feed, {
    send(view) {
      const end = endOf(view)
      const text = nextText(view)
      if (end?.type === 'error') {
        if (text) send(chunks.text(text))
        sendError(compatRunError(end.error))
        return 'over'
      }
      if (text === undefined) {
        sendError(brokenStream.contradicted)
        return 'over'
      }
      if (text !== '') {
        send(chunks.text(text))
        anyText = true
      }
      if (end === undefined) return anyText ? 'sent' : 'waiting'
      send(chunks.end(view))
      const usage = includeUsage ? usageOf(view) : undefined
      if (usage) send(chunks.usage(usage))
      stream.send({ data: '[DONE]' })
      return 'over'
    },
    giveUp: (reason) => void sendError(brokenStream[reason]),
    onError: (error) => reply.log.error({ err: error }, 'a stream of the compat family failed'),
  })
}
