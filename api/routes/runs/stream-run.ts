import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { endOfWholeText } from '../../../domain/cut-text.ts'
import { type EventId, compareIds, endIdAfter, laterId } from '../../../domain/ids.ts'
import type { Message, MessageDelta } from '../../../domain/messages.ts'
import type { RunError } from '../../../domain/records/run.ts'
import { type FoldedMessage, type Pieces, type RunView, type Terminal, toMessage } from '../../../domain/run-events.ts'
import type { FollowedRun } from '../../../services/runs/index.ts'
import { type EventStream, type OpenStreams, openEventStream } from '../../sse/event-stream.ts'
import { followRun } from '../../sse/follow-run.ts'
import type { StreamMode } from './schemas.ts'

/** Ids of the two events before the first entry of the stream. */
const startEventId = '0-1'
export const metadataEventId = '0-2'

export const eventStream = {
  200: {
    description: 'Server-sent events: start, metadata, data…, then end or error.',
    content: { 'text/event-stream': { schema: Type.String() } },
  },
}

interface StreamOptions {
  openStreams: Pick<OpenStreams, 'track'>
  /** The routes under which the client can resume; default `/runs`. */
  root?: string
  /** The last event that the client has received, if it resumes. */
  after?: EventId | undefined
  /** What this reader is told of a failure; by default everything. */
  toError?: (error: RunError) => RunError
  mode?: StreamMode | undefined
  /** Whether the reader, a public caller, is told that others read the chat. */
  isKept?: boolean
}

/**
 * Sends a run to one reader until it has ended, the reader disconnects, or `stop` is called: `start`, `metadata`,
 * `data` with the messages that changed, whole or by the text that was added, then `end` or `error`. A slow reader
 * gets fewer, newer states: nothing is queued for it, because only its position is kept.
 */
export function streamRun(
  reply: FastifyReply,
  { run, feed }: FollowedRun,
  { openStreams, root = '/runs', after, toError = (error) => error, mode, isKept = false }: StreamOptions,
) {
  const stream = openEventStream(reply, { 'content-location': `${root}/${run._id}` })
  if (after === undefined)
    stream.send({ name: 'start', id: startEventId, data: JSON.stringify({ status: 'starting' }) })
  if (after === undefined || after === startEventId) {
    const metadata = { run_id: run._id, thread_id: run.thread_id, ...(isKept ? { kept: true } : {}) }
    stream.send({ name: 'metadata', id: metadataEventId, data: JSON.stringify(metadata) })
  }

  const changes = mode === 'deltas' ? messageDeltas() : wholeMessages()
  let seen = positionIn(feed.view, after)
  const following = followRun(stream, feed, {
    send(view) {
      seen = sendChanges(stream, view, seen, changes)
      const { terminal } = view
      if (terminal === undefined) return compareIds(seen, metadataEventId) > 0 ? 'sent' : 'waiting'
      const shown: Terminal = terminal.type === 'error' ? { ...terminal, error: toError(terminal.error) } : terminal
      sendTerminal(stream, shown, endIdAfter(laterId(seen, view.at)))
      return 'over'
    },
    // Nothing is sent: the run continues, and the client resumes with its last id.
    giveUp: () => {},
    onError: (error) => reply.log.error({ err: error }, 'a run stream failed'),
  })
  openStreams.track(following.finished, following.stop)
  return following
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

/** What a reader who has seen everything up to `seen` is sent next. */
type Changes = (view: RunView, seen: EventId) => (Message | MessageDelta)[]

/** Every message that changed, whole. */
export function wholeMessages(): Changes {
  return (view, seen) =>
    [...view.messages.values()]
      .filter((message) => compareIds(message.changedAt, seen) > 0 && hasContent(message))
      .map(toMessage)
}

/** What one reader has of a message that is still being written. */
interface Sent {
  /** Those of the attempt that is being written: another attempt has others. */
  pieces: Pieces
  textLength: number
  reasoningLength: number
  callsLength: number
  calls: number
  /** Characters of the last whole message, and those of the texts since. */
  wholeLength: number
  lengthSince: number
}

/** A message shorter than this is not sent whole a second time while it is written. */
const minWholeLength = 4096

/**
 * The text that was added, and a whole message when it is new to this reader, has ended, began anew, has grown to
 * twice its size, or when arguments of calls have. So all that is sent of a message is at most a few times its size,
 * while whole messages for each state grow with its square.
 */
export function messageDeltas(): Changes {
  const open = new Map<string, Sent>()

  function changeOf(message: FoldedMessage, view: RunView, seen: EventId): Message | MessageDelta | undefined {
    const { id, content } = message
    const sent = open.get(id)
    if (sent === undefined && compareIds(message.changedAt, seen) <= 0) return undefined
    if ('whole' in content) {
      open.delete(id)
      return content.whole
    }
    if (!hasContent(message)) return undefined
    const { pieces } = content
    const textLength = endOfWholeText(pieces.text)
    const { calls, callsLength } = sizeOfCalls(pieces)
    const isKnown = sent?.pieces === pieces
    const reasoningLength = endOfWholeText(pieces.reasoning)
    const added = isKnown ? pieces.text.slice(sent.textLength, textLength) : ''
    const thought = isKnown ? pieces.reasoning.slice(sent.reasoningLength, reasoningLength) : ''
    const callsGrew =
      isKnown &&
      (calls > sent.calls ||
        callsLength >= Math.max(sent.callsLength * 2, sent.callsLength + 64) ||
        (view.terminal !== undefined && callsLength > sent.callsLength))
    const length = added.length + thought.length
    const isDue = isKnown && sent.lengthSince + length >= Math.max(sent.wholeLength, minWholeLength)
    const isShorter = isKnown && textLength < sent.textLength
    if (!isKnown || callsGrew || isDue || isShorter) {
      const whole = toMessage(message)
      const wholeLength = textLength + reasoningLength + callsLength
      open.set(id, { pieces, textLength, reasoningLength, callsLength, calls, wholeLength, lengthSince: 0 })
      const reasoning = pieces.reasoning.slice(0, reasoningLength)
      const texts = { content: pieces.text.slice(0, textLength), ...(reasoning === '' ? {} : { reasoning }) }
      return { ...whole, data: { ...whole.data, ...texts } } as Message
    }
    if (length === 0) return undefined
    sent.textLength = textLength
    sent.reasoningLength = reasoningLength
    sent.lengthSince += length
    return { type: 'AIMessageDelta', data: { id, content: added, ...(thought === '' ? {} : { reasoning: thought }) } }
  }

  return (view, seen) => [...view.messages.values()].flatMap((message) => changeOf(message, view, seen) ?? [])
}

/** A message that has only begun is no news; after a failed attempt its reader keeps the old text until there is new. */
function hasContent({ content }: FoldedMessage): boolean {
  if ('whole' in content) return true
  const { text, reasoning, refusal, calls } = content.pieces
  return text !== '' || reasoning !== '' || refusal !== '' || calls.size > 0
}

/** Only calls that are shown: those with a name. */
function sizeOfCalls({ calls }: Pieces) {
  const shown = [...calls.values()].filter(({ name }) => name !== '')
  return { calls: shown.length, callsLength: shown.reduce((sum, { name, args }) => sum + name.length + args.length, 0) }
}
