import type { FastifyInstance } from 'fastify'

export interface OpenStreams {
  /** Counts a stream as open until it settles; `stop` ends it when the service has waited long enough. */
  track(stream: Promise<void>, stop: () => void): void
}

/**
 * When the service closes, open streams may finish for a bounded time. What is left then is ended:
 * its client comes back with `Last-Event-ID`.
 */
export function installOpenStreams(app: FastifyInstance, graceMs: number): OpenStreams {
  const open = new Map<Promise<void>, () => void>()
  app.addHook('preClose', async () => {
    if (open.size === 0) return
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise((resolve) => {
      timer = setTimeout(resolve, graceMs)
    })
    await Promise.race([Promise.allSettled(open.keys()), limit])
    clearTimeout(timer)
    for (const stop of open.values()) stop()
  })
  return {
    track(stream, stop) {
      const settled = stream.finally(() => open.delete(settled))
      open.set(settled, stop)
    },
  }
}
