import type { FastifyReply } from 'fastify'
import type { publicRunError } from '../../../domain/public-run-error.ts'
import type { RunView } from '../../../domain/run-events.ts'
import type { FollowedRun } from '../../../services/runs/index.ts'
import { type CompatErrorObject, compatRunError } from '../../plugins/compat-errors.ts'
import { type EventStream, openEventStream } from '../../sse/event-stream.ts'
import { followRun } from '../../sse/follow-run.ts'
import {
  type ChatChunk,
  type CompletionOptions,
  completionChunks,
  createAnswerProgress,
  isEmpty,
  usageOf,
} from './completion.ts'
import { brokenStream, endOf } from './run-end.ts'

/**
 * Sends runs, one for each choice, as `chat.completion.chunk`s and `[DONE]`. A failure is a line with a top-level
 * `error` and nothing after it. No text is sent twice, even if the worker dies.
 */
export function streamCompletion(
  reply: FastifyReply,
  choices: FollowedRun[],
  {
    includeUsage,
    shownError,
    shownChunk = (chunk) => chunk,
    ...options
  }: CompletionOptions & {
    includeUsage: boolean
    shownError: typeof publicRunError
    shownChunk?: (chunk: ChatChunk) => object | undefined
  },
) {
  const stream = openEventStream(reply)
  const chunks = completionChunks(options, includeUsage)
  const views: RunView[] = []
  let isBroken = false
  const send = (chunk: ChatChunk) => {
    const shown = shownChunk(chunk)
    if (shown !== undefined) stream.send({ data: JSON.stringify(shown) })
  }
  const sendError = (error: CompatErrorObject) => {
    if (!isBroken) stream.send({ data: JSON.stringify({ error }) })
    isBroken = true
  }
  const shares = shareStream(stream, choices.length, () => {
    if (isBroken || views.length < choices.length) return
    const usage = includeUsage ? usageOf(views) : undefined
    if (usage) send(chunks.usage(usage))
    stream.send({ data: '[DONE]' })
  })
  for (const index of choices.keys()) send(chunks.begin(index))

  const followers = choices.map(({ feed }, index) => {
    const next = createAnswerProgress(options)
    let anyText = false
    return followRun(shares[index] ?? stream, feed, {
      send(view) {
        if (isBroken) return 'over'
        const end = endOf(view, shownError)
        const added = next(view)
        const isNew = added !== undefined && !isEmpty(added)
        if (end?.type === 'error') {
          if (isNew) send(chunks.more(index, added))
          sendError(compatRunError(end.error))
          return 'over'
        }
        if (added === undefined) {
          sendError(brokenStream.contradicted)
          return 'over'
        }
        if (isNew) {
          send(chunks.more(index, added))
          anyText = true
        }
        if (end === undefined) return anyText ? 'sent' : 'waiting'
        send(chunks.end(index, view))
        views.push(view)
        return 'over'
      },
      giveUp: (reason) => sendError(brokenStream[reason]),
      onError: (error) => reply.log.error({ err: error }, 'a stream of the compat family failed'),
    })
  })
  return {
    finished: Promise.all(followers.map(({ finished }) => finished)).then(() => undefined),
    stop() {
      for (const follower of followers) follower.stop()
    },
  }
}

/**
 * One stream for several followers, each of which ends its own share: with the last, `onLast` is called and the stream
 * ends. A client that leaves, or can take more, is reported to all.
 */
function shareStream(stream: EventStream, count: number, onLast: () => void) {
  const listeners: (() => void)[] = []
  let open = count
  stream.onProgress(() => {
    for (const listener of listeners) listener()
  })
  const end = () => {
    open -= 1
    if (open > 0) return
    if (!stream.isClosed) onLast()
    stream.end()
  }
  return Array.from({ length: count }, () => ({
    comment: stream.comment,
    end,
    onProgress: (listener: () => void) => void listeners.push(listener),
    get isWritable() {
      return stream.isWritable
    },
    get isClosed() {
      return stream.isClosed
    },
    get sentBytes() {
      return stream.sentBytes
    },
  }))
}
