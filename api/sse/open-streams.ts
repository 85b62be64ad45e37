import { Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { within } from '../../services/within.ts'

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
      const settled = stream.catch(() => undefined).finally(() => open.delete(settled))
      open.set(settled, stop)
      // Its request was under way when the shutdown began.
      if (isOver) stop()
    },
    closing: closing.signal,
    get isOver() {
      return isOver
    },
  }
}
