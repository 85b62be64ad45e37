import { refusalOf } from './create-client.ts'
import { type ServerEvent, readEvents } from './read-events.ts'

/** How to reach the service, and how long to wait for it. */
export interface Connection {
  baseUrl: string
  /** Called for the token of each request. */
  token?: () => string | undefined
  headers?: Record<string, string>
  signal?: AbortSignal
  fetch?: typeof globalThis.fetch
  /** How long to retry after the connection was lost, without a success in between. Ten minutes. */
  giveUpAfterMs?: number
  /** A connection without data for this long is considered dead: the service sends a comment every 15 seconds. */
  silenceMs?: number
  /**
   * What the service sends of a message that grows: the text that was added (`deltas`, the default), or all of it
   * each time. Snapshots are the same.
   */
  streamMode?: 'messages' | 'deltas'
}

interface Call {
  url: string
  method: string
  body?: string
  after?: string | undefined
}

/** The events of one response. */
export async function* connect(options: Connection, { url, method, body, after }: Call): AsyncGenerator<ServerEvent> {
  const { baseUrl, token, headers, signal, fetch = globalThis.fetch, silenceMs = 45_000 } = options
  const mode = options.streamMode ?? 'deltas'
  const silence = new AbortController()
  let timer = setTimeout(() => silence.abort(), silenceMs)
  const alive = () => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), silenceMs)
  }
  const current = token?.()
  try {
    const response = await fetch(`${baseUrl}${url}?stream_mode=${mode}`, {
      method,
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
      ...(body === undefined ? {} : { body }),
      headers: {
        ...headers,
        accept: 'text/event-stream',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(current === undefined ? {} : { authorization: `Bearer ${current}` }),
        ...(after === undefined ? {} : { 'last-event-id': after }),
      },
    })
    if (!response.ok) throw await refusalOf(response)
    if (response.body === null) throw new Error('The answer has no body.')
    yield* readEvents(response.body, alive)
  } finally {
    clearTimeout(timer)
  }
}

export function isAborted({ signal }: Connection): boolean {
  return signal?.aborted === true
}

/** Ends early if the signal aborts, or when the browser reports that it is online again. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const page: unknown = Reflect.get(globalThis, 'window')
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      if (page instanceof EventTarget) page.removeEventListener('online', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    if (signal?.aborted) done()
    signal?.addEventListener('abort', done)
    if (page instanceof EventTarget) page.addEventListener('online', done)
  })
}
