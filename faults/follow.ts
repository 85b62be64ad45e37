import { setTimeout as pause } from 'node:timers/promises'
import { type Message, foldMessages } from '../client/src/fold-messages.ts'
import { readEvents } from '../client/src/read-events.ts'
import { compareIds } from '../domain/ids.ts'
import { type CallOptions, type Caller, GaveUpError } from './caller.ts'
import type { ClientLog, Intention } from './client-log.ts'
import type { Progress, WatchedStream } from './progress.ts'

/** A stream as a client assembled it from any number of connections. */
export interface Followed {
  runId: string
  threadId: string
  messages: Message[]
  end: 'end' | 'error'
  error: string
  connections: number
}

export interface FollowOptions {
  intention: Intention
  path: '/runs' | '/public/runs'
  options: CallOptions
  /** The progress of this stream shows how long a fault has an effect, so it must wait for nothing but the model. */
  isSteady: boolean
  onMetadata?: (runId: string) => void
}

/** Without a byte for this long, the connection counts as lost: the service sends a comment every 15 seconds. */
const silenceMs = 40_000

export function createFollow({ caller, log, progress }: { caller: Caller; log: ClientLog; progress: Progress }) {
  /** Starts a run and reads its stream to the end, over as many connections as it takes. */
  return async function follow({ intention, path, options, isSteady, onMetadata }: FollowOptions): Promise<Followed> {
    const state = {
      runId: '',
      threadId: '',
      messages: [] as Message[],
      lastId: undefined as string | undefined,
      end: undefined as Followed['end'] | undefined,
      error: '',
    }
    const watched = isSteady ? progress.watch() : undefined
    let connections = 0
    let deadline = Date.now() + caller.patienceMs
    let last = ''
    try {
      while (state.end === undefined) {
        if (Date.now() > deadline) throw new GaveUpError(`${path} ${intention.id}: ${last}`)
        if (connections > 0) await pause(Math.min(1_000, 50 * 2 ** Math.min(connections, 5)))
        connections++
        const silence = silenceLimit(caller.patienceMs)
        try {
          const response =
            state.runId === ''
              ? await caller.attempt('POST', `${path}/stream`, options, silence.signal)
              : await caller.attempt(
                  'GET',
                  `${path}/${state.runId}/stream`,
                  comingBack(options, state.lastId),
                  silence.signal,
                )
          if (!response.ok) {
            const text = await response.text()
            last = `${response.status} ${text.slice(0, 200)}`
            if (caller.isDefinite(response, `${path} stream`, text))
              throw new RefusedError(response.status, `${path} ${intention.id}: ${last}`)
            continue
          }
          if (response.body === null) throw new Error('no body')
          if (state.runId === '') state.lastId = undefined
          for await (const event of readEvents(response.body, silence.alive)) {
            deadline = Date.now() + caller.patienceMs
            silence.eventCame()
            take(intention, state, event, watched)
            if (event.event === 'metadata') onMetadata?.(state.runId)
          }
          last = 'the stream ended without an end'
        } catch (error) {
          if (error instanceof RefusedError) throw error
          last = String(error)
        } finally {
          silence.stop()
        }
      }
    } finally {
      watched?.over()
    }
    return { ...state, end: state.end, connections }
  }

  interface State {
    runId: string
    threadId: string
    messages: Message[]
    lastId: string | undefined
    end: Followed['end'] | undefined
    error: string
  }

  function take(
    intention: Intention,
    state: State,
    { event, id, data }: { event: string; id: string | undefined; data: string },
    watched: WatchedStream | undefined,
  ): void {
    log.write({ read: intention.id, event, id })
    const wrong = (what: string) => log.fault('wrong', intention, what)
    if (state.end !== undefined) wrong(`${event} after ${state.end}`)
    if (id === undefined) wrong(`${event} without an id`)
    else if (state.lastId !== undefined && compareIds(id, state.lastId) <= 0)
      wrong(`${event} ${id} after ${state.lastId}`)
    state.lastId = id
    if (event === 'metadata') {
      const { run_id: runId, thread_id: threadId } = JSON.parse(data) as { run_id: string; thread_id: string }
      Object.assign(state, { runId, threadId })
    }
    if (event === 'data') {
      state.messages = foldMessages(state.messages, JSON.parse(data) as Message[])
      watched?.moved()
    }
    if (event === 'end' || event === 'error') {
      state.end = event
      state.error = data
      watched?.moved()
    }
  }
}

/** A permanent refusal. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

function comingBack({ token, headers }: CallOptions, lastId: string | undefined): CallOptions {
  return { token, headers: { ...headers, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) } }
}

/** Ends a connection without a byte for a while, or with nothing but comments for `patienceMs`. */
function silenceLimit(patienceMs: number) {
  const controller = new AbortController()
  const limit = (ms: number) => {
    const newTimer = () => setTimeout(() => controller.abort(new Error(`silence for ${ms} ms`)), ms)
    let timer = newTimer()
    return {
      again: () => {
        clearTimeout(timer)
        timer = newTimer()
      },
      stop: () => clearTimeout(timer),
    }
  }
  const [bytes, events] = [limit(silenceMs), limit(patienceMs)]
  return {
    signal: controller.signal,
    alive: bytes.again,
    eventCame: events.again,
    stop: () => {
      bytes.stop()
      events.stop()
    },
  }
}
