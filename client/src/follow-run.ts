import { ApiError, type Schemas } from './create-client.ts'
import { type Message, foldMessages } from './fold-messages.ts'
import { type ServerEvent, parseEvent } from './read-events.ts'
import { type Connection, connect, isAborted, pause } from './run-connection.ts'

/** The state of a run after an event or a change of the connection. */
export interface RunSnapshot {
  runId: string
  threadId: string
  /** Of a public run: others read the chat. */
  isKept?: boolean
  /** All messages of the run so far, including the results of its tools. */
  messages: Message[]
  status: 'running' | 'ended' | 'failed'
  /** Why the run failed. */
  error: Schemas['RunError'] | undefined
  connection: 'open' | 'reconnecting'
  lastEventId: string | undefined
}

export interface FollowOptions extends Connection {
  runId: string
  /** Continue after this event. */
  lastEventId?: string
  /** `/public/runs` for runs of public assistants. */
  path?: '/runs' | '/public/runs'
}

interface StreamOptions extends Connection {
  path?: '/runs' | '/public/runs'
  body: Schemas['CreateRunPayload'] | Schemas['PublicCreateRunPayload']
}

const firstPauseMs = 500
const longestPauseMs = 10_000

/**
 * Follows a run and yields a snapshot after each event, until the run ends, fails or waits for a decision.
 * Reconnects by itself with `Last-Event-ID`. Returns when `signal` aborts. Throws `ApiError` for a permanent
 * refusal, and the last failure if the connection cannot be restored.
 */
export async function* followRun(options: FollowOptions): AsyncGenerator<RunSnapshot> {
  const begun = newSnapshot(options.runId)
  if (options.lastEventId !== undefined) begun.lastEventId = options.lastEventId
  yield* follow(options, begun)
}

/** Starts a run and follows it, in one request. Throws if the connection breaks before the run's id has arrived. */
export async function* streamRun(options: StreamOptions): AsyncGenerator<RunSnapshot> {
  const { path = '/runs', body } = options
  const snapshot = newSnapshot('')
  const first = connect(options, { url: `${path}/stream`, method: 'POST', body: JSON.stringify(body) })
  try {
    yield* read(first, snapshot)
  } catch (error) {
    if (isAborted(options)) return
    if (snapshot.runId === '' || error instanceof ApiError) throw error
  }
  if (snapshot.status === 'running' && !isAborted(options)) yield* follow(options, snapshot, true)
}

async function* follow(options: Connection & { path?: string }, start: RunSnapshot, isBroken = false) {
  const { path = '/runs', giveUpAfterMs = 600_000 } = options
  const snapshot = start
  let failures = isBroken ? 1 : 0
  let lostAt = Date.now()
  while (snapshot.status === 'running') {
    if (failures > 0) {
      yield { ...snapshot, connection: 'reconnecting' as const }
      await pause(
        Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1)) * (0.75 + Math.random() / 2),
        options.signal,
      )
    }
    if (isAborted(options)) return
    const url = `${path}/${encodeURIComponent(snapshot.runId)}/stream`
    let failure: unknown = new Error('The connection was closed before the run ended.')
    try {
      for await (const next of read(connect(options, { url, method: 'GET', after: snapshot.lastEventId }), snapshot)) {
        failures = 0
        lostAt = Date.now()
        yield next
      }
    } catch (error) {
      if (error instanceof ApiError && !canRetry(error)) throw error
      failure = error
      if (error instanceof ApiError && error.retryAfterSeconds !== undefined)
        await pause(Math.min(60, error.retryAfterSeconds) * 1000, options.signal)
    }
    if (isAborted(options)) return
    if (snapshot.status !== 'running') return
    failures += 1
    if (Date.now() - lostAt > giveUpAfterMs) throw failure
  }
}

/** Folds events into the snapshot, and yields a copy after each. */
async function* read(events: AsyncIterable<ServerEvent>, snapshot: RunSnapshot): AsyncGenerator<RunSnapshot> {
  for await (const received of events) {
    if (received.id !== undefined) snapshot.lastEventId = received.id
    const event = parseEvent<Schemas['RunStreamEvent']>(received)
    switch (event.event) {
      case 'metadata':
        const { run_id: runId, thread_id: threadId, kept } = event.data
        Object.assign(snapshot, { runId, threadId, ...(kept === true && { isKept: true }) })
        break
      case 'data':
        snapshot.messages = foldMessages(snapshot.messages, event.data)
        break
      case 'end':
        snapshot.status = 'ended'
        break
      case 'error':
        snapshot.status = 'failed'
        snapshot.error = event.data
        break
      default:
    }
    yield { ...snapshot }
    if (snapshot.status !== 'running') return
  }
}

function newSnapshot(runId: string): RunSnapshot {
  return {
    runId,
    threadId: '',
    messages: [],
    status: 'running',
    error: undefined,
    connection: 'open',
    lastEventId: undefined,
  }
}

function canRetry({ status }: ApiError): boolean {
  return status === 408 || status === 429 || status >= 500
}
