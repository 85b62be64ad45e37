import { within } from '../../services/within.ts'
import type { FastifyInstance } from 'fastify'

export interface OpenStreams {
  /** Counts an answer as open until it settles; `stop` ends it when the grace period is over. */
  track(stream: Promise<void>, stop: () => void): void
  /** The grace period is over. */
  readonly isOver: boolean
}

/**
 * When the service shuts down, open streams and requests that wait for a workflow may finish within a limit. After
 * that they are ended; a stream's client resumes with `Last-Event-ID`.
 */
export function installOpenStreams(app: FastifyInstance, graceMs: number): OpenStreams {
  const open = new Map<Promise<void>, () => void>()
  let idle: NodeJS.Timeout | undefined
  let isOver = false
  app.addHook('onClose', async () => clearInterval(idle))
  app.addHook('preClose', async () => {
    // A connection whose last answer was under way at the shutdown would be kept alive for a minute.
    idle = setInterval(() => app.server.closeIdleConnections(), 100)
    if (open.size > 0) await within(graceMs, Promise.allSettled(open.keys()))
    isOver = true
    for (const stop of open.values()) stop()
  })
  return {
    track(stream, stop) {
      const settled = stream.catch(() => undefined).finally(() => open.delete(settled))
      open.set(settled, stop)
      // Its request was under way when the shutdown began.
      if (isOver) stop()
    },
    get isOver() {
      return isOver
    },
  }
}
