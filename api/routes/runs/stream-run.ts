import type { FastifyReply } from 'fastify'
import { type EventId, compareIds, endIdAfter, laterId } from '../../../domain/event-ids.ts'
import type { RunError } from '../../../domain/records/run.ts'
import type { RunView, Terminal } from '../../../domain/run-events.ts'
import type { RunFeed } from '../../../services/runs/run-feeds.ts'
import { type EventStream, openEventStream } from '../../sse/event-stream.ts'
import { followRun } from '../../sse/follow-run.ts'
import { type Changes, messageDeltas, wholeMessages } from './run-changes.ts'
import type { StreamMode } from './schemas.ts'

/** Ids of the two events before the first entry of the stream. */
export const startEventId = '0-1'
export const metadataEventId = '0-2'

interface StreamOptions {
  runId: string
  threadId: string
  /** Where the client can resume; default `/runs/{id}`. */
  location?: string
  /** The last event that the client has received, if it resumes. */
  after?: EventId | undefined
  /** What this reader is told of a failure; by default everything. */
  shownError?: (error: RunError) => RunError
  mode?: StreamMode | undefined
}

/**
 * Sends a run to one reader until it has ended, the reader disconnects, or `stop` is called: `start`, `metadata`,
 * `data` with the messages that changed, whole or by the text that was added, then `end` or `error`. A slow reader
 * gets fewer, newer states: nothing is queued for it, because only its position is kept.
 */
export function streamRun(
  reply: FastifyReply,
  feed: RunFeed,
  { runId, threadId, location, after, shownError = (error) => error, mode }: StreamOptions,
) {
  const stream = openEventStream(reply, { 'content-location': location ?? `/runs/${runId}` })
  if (after === undefined)
    stream.send({ name: 'start', id: startEventId, data: JSON.stringify({ status: 'starting' }) })
  if (after === undefined || after === startEventId) {
    stream.send({ name: 'metadata', id: metadataEventId, data: JSON.stringify({ run_id: runId, thread_id: threadId }) })
  }

  const changes = mode === 'deltas' ? messageDeltas() : wholeMessages()
  let seen = positionIn(feed.view, after)
  return followRun(stream, feed, {
    send(view) {
      seen = sendChanges(stream, view, seen, changes)
      const { terminal } = view
      if (terminal === undefined) return compareIds(seen, metadataEventId) > 0 ? 'sent' : 'waiting'
      const shown: Terminal = terminal.type === 'error' ? { ...terminal, error: shownError(terminal.error) } : terminal
      sendTerminal(stream, shown, endIdAfter(laterId(seen, view.at)))
      return 'over'
    },
    // Nothing is sent: the run continues, and the client resumes with its last id.
    giveUp: () => {},
    onError: (error) => reply.log.error({ err: error }, 'a run stream failed'),
  })
}

/**
 * Where a returning reader continues. A position of another stream means that everything is sent once, so that
 * there is never a gap.
 */
function positionIn(view: RunView, after: EventId | undefined): EventId {
  if (after === undefined) return metadataEventId
  const isKnown = compareIds(after, endIdAfter(view.at)) <= 0 || view.restored
  return isKnown ? laterId(after, metadataEventId) : metadataEventId
}

function sendChanges(stream: EventStream, view: RunView, seen: EventId, changes: Changes): EventId {
  if (compareIds(view.at, seen) <= 0) return seen
  const changed = changes(view, seen)
  if (changed.length === 0) return seen
  stream.send({ name: 'data', id: view.at, data: JSON.stringify(changed) })
  return view.at
}

function sendTerminal(stream: EventStream, terminal: Terminal, id: EventId): void {
  if (terminal.type === 'error') stream.send({ name: 'error', id, data: JSON.stringify(terminal.error) })
  else stream.send({ name: 'end', id, data: '' })
}
