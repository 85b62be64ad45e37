import type { ServerResponse } from 'node:http'
import { Server, Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { within } from '../../services/within.ts'

export type EventStream = ReturnType<typeof openEventStream>

const keepAliveMs = 15_000

/**
 * Answers with server-sent events (HTML standard, section 9.2). The response is taken over from Fastify; headers
 * that hooks have set are kept.
 */
export function openEventStream(reply: FastifyReply, headers: Record<string, string> = {}) {
  reply.hijack()
  const watch = reply.watchStream?.()
  const raw: ServerResponse = reply.raw
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    ...headers,
  })
  // A request that came over a WebSocket has no connection of its own.
  const socket = raw.socket instanceof Socket ? raw.socket : undefined
  socket?.setNoDelay(true)
  // The headers go out together with the events of this turn.
  socket?.cork()
  raw.flushHeaders()
  process.nextTick(() => socket?.uncork())
  let sentBytes = 0
  let progress = () => {}
  const isClosed = () => raw.closed || raw.destroyed
  const comment = (text: string): void => {
    raw.write(`: ${text}\n\n`)
  }
  // If the client disconnected before its stream was opened, nothing would stop the timer.
  const keepAlive = isClosed()
    ? undefined
    : setInterval(() => {
        if (!raw.writableNeedDrain) comment('keep-alive')
      }, keepAliveMs)
  raw.on('drain', () => progress())
  raw.once('close', () => {
    clearInterval(keepAlive)
    progress()
  })

  return {
    /** Sends one event; false if the client reads too slowly, and the caller should wait until `isWritable`. */
    send(event: { name?: string; id?: string; data: string }): boolean {
      const name = event.name === undefined ? '' : `event: ${event.name}\n`
      const id = event.id === undefined ? '' : `id: ${event.id}\n`
      const frame = `${name}${id}data: ${onOneLine(event.data)}\n\n`
      sentBytes += frame.length
      watch?.(event.name)
      return raw.write(frame)
    },
    /** A comment, which clients ignore. */
    comment,
    /** Calls `listener`, instead of an earlier one, when the client can take more or has disconnected. */
    onProgress(listener: () => void): void {
      progress = listener
    },
    end(): void {
      raw.end()
    },
    /** Approximate size of all events so far, in bytes. */
    get sentBytes() {
      return sentBytes
    },
    get isWritable() {
      return !raw.writableNeedDrain
    },
    get isClosed() {
      return isClosed()
    },
  }
}

/**
 * U+0085, U+2028 and U+2029 are no line ends in an event stream, but many clients split there. Data is JSON, in
 * which such characters occur only in strings and can be written as escapes.
 */
function onOneLine(data: string): string {
  return data.replace(/[\u0085\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export interface OpenStreams {
  /** Counts an answer as open until it settles; `stop` ends it when the grace period is over. */
  track(stream: Promise<void>, stop: () => void): void
  /** Aborted when the shutdown begins. */
  readonly closing: AbortSignal
  /** The grace period is over. */
  readonly isOver: boolean
}

interface Settings {
  shutdownGraceSeconds: number
  trustProxy: string[]
}

/** Fastify's part: it does not refuse what comes on open connections. */
export const shutdownOptions = { forceCloseConnections: 'idle', return503OnClosing: false } as const

/** Longer than a proxy may keep an idle connection (`keepalive` in the Caddyfile), so that it closes them itself. */
export const proxyIdleMs = 3000

/**
 * When the service shuts down, it stops listening at once, so that a proxy asks another process. What comes on open
 * connections is answered with `connection: close`. Idle connections of a proxy are closed late: a request may be on
 * its way, and a proxy does not repeat one that is not idempotent. Open streams and requests that wait for a workflow
 * may finish within the grace period. After that they are ended; a stream's client resumes with `Last-Event-ID`.
 */
export function installOpenStreams(app: FastifyInstance, settings: Settings): OpenStreams {
  const open = new Map<Promise<void>, () => void>()
  let idle: NodeJS.Timeout | undefined
  let isOver = false
  const closing = new AbortController()
  app.addHook('onClose', async () => clearInterval(idle))
  app.addHook('preClose', async () => {
    closing.abort()
    const closed = new Promise<void>((resolve) => {
      // An HTTP server's own `close` would also close idle connections.
      Server.prototype.close.call(app.server, () => resolve())
    })
    const keepIdleUntil = performance.now() + (settings.trustProxy.length > 0 ? proxyIdleMs : 0)
    const closeIdle = () => performance.now() >= keepIdleUntil && app.server.closeIdleConnections()
    closeIdle()
    // Again and again: a connection whose last answer was under way at the shutdown would be kept alive for a minute.
    idle = setInterval(closeIdle, 100)
    await within(settings.shutdownGraceSeconds * 1000, closed)
    isOver = true
    for (const stop of open.values()) stop()
    await closed
  })
  return {
    track(stream, stop) {
      const finished = stream.catch(() => undefined).finally(() => open.delete(finished))
      open.set(finished, stop)
      // Its request was under way when the shutdown began.
      if (isOver) stop()
    },
    closing: closing.signal,
    get isOver() {
      return isOver
    },
  }
}
