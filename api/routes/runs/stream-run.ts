import type { FastifyReply } from 'fastify'
import {
  type EntryId,
  type FoldedMessage,
  type RunView,
  compareEntryIds,
  shownMessage,
} from '../../../domain/run-events.ts'
import type { RunFeed } from '../../../services/runs/run-feeds.ts'
import { type EventStream, openEventStream } from '../../sse/event-stream.ts'

/** Ids of the two events that come before anything from the stream. */
export const startEventId = '0-1'
export const metadataEventId = '0-2'

/** Readers get about thirty states a second; what happens in between is merged into the next. */
const mergeMs = 33

interface StreamOptions {
  runId: string
  threadId: string
  /** Where the client comes back to; without it `/runs/{id}`. */
  location?: string
  /** The last event that the client has seen, when it comes back. */
  after?: EntryId | undefined
}

/**
 * Sends a run to one reader until it is over, the reader goes away, or `stop` is called: `start`,
 * `metadata`, `data` with the whole messages that changed, then `end` or `error`. A reader that is
 * slow gets fewer, newer states: nothing piles up for it, because all that is kept is how far it got.
 */
export function streamRun(reply: FastifyReply, feed: RunFeed, { runId, threadId, location, after }: StreamOptions) {
  const stream = openEventStream(reply, { 'content-location': location ?? `/runs/${runId}` })
  if (after === undefined)
    stream.send({ name: 'start', id: startEventId, data: JSON.stringify({ status: 'starting' }) })
  if (after === undefined || after === startEventId) {
    stream.send({ name: 'metadata', id: metadataEventId, data: JSON.stringify({ run_id: runId, thread_id: threadId }) })
  }

  let stopped = false
  let wake = () => {}
  const finished = (async () => {
    let seen = positionIn(feed.view, after)
    const unlisten = feed.onChange(() => wake())
    try {
      while (!stopped && !stream.isClosed) {
        const news = new Promise<void>((resolve) => {
          wake = resolve
        })
        seen = sendChanges(stream, feed.view, seen)
        if (feed.view.terminal !== undefined) {
          sendTerminal(stream, feed.view.terminal)
          break
        }
        await Promise.race([stream.drained(), stream.closed])
        await Promise.race([news, stream.closed])
        // Only after the first text is on its way: the first token is never held back.
        if (compareEntryIds(seen, metadataEventId) > 0) await new Promise((resolve) => setTimeout(resolve, mergeMs))
      }
    } finally {
      unlisten()
      feed.close()
      stream.end()
    }
  })()

  return {
    finished,
    stop() {
      stopped = true
      wake()
    },
  }
}

/** Where a returning reader goes on. A position that is not of this stream means everything, once: never a silent gap. */
function positionIn(view: RunView, after: EntryId | undefined): EntryId {
  if (after === undefined || compareEntryIds(after, view.lastId) > 0) return metadataEventId
  return compareEntryIds(after, metadataEventId) < 0 ? metadataEventId : after
}

function sendChanges(stream: EventStream, view: RunView, seen: EntryId): EntryId {
  const changed = [...view.messages.values()].filter(
    (message) => compareEntryIds(message.changedAt, seen) > 0 && hasContent(message),
  )
  if (changed.length === 0) return seen
  stream.send({ name: 'data', id: view.lastId, data: JSON.stringify(changed.map(shownMessage)) })
  return view.lastId
}

function sendTerminal(stream: EventStream, { at, event }: NonNullable<RunView['terminal']>): void {
  if (event.type === 'error') stream.send({ name: 'error', id: at, data: JSON.stringify(event.error) })
  else stream.send({ name: 'end', id: at, data: '' })
}

/** A message that has only begun is no news; after a failed attempt its reader keeps the old text until there is new. */
function hasContent({ content }: FoldedMessage): boolean {
  return 'whole' in content || content.pieces.text !== '' || content.pieces.calls.length > 0
}
