import { setTimeout as pause } from 'node:timers/promises'
import type { Platform } from '../composition/platform.ts'
import type { Settings } from '../infra/config.ts'
import type { Logger } from '../infra/logger.ts'
import type { Metrics } from '../infra/metrics/create-metrics.ts'
import type { WorkerClassOf } from './serve-queues.ts'

/** Loading it keeps the process busy; the requests that waited for the API to listen are answered before. */
const headStartMs = 200

/**
 * Starts the worker of an API process. Temporal's worker is loaded only then, once the API listens: it takes
 * a second and a hundred megabytes. Until it is `ready` the runs wait for it, or go to other workers.
 */
export function startOwnWorker(
  platform: Platform,
  settings: Settings,
  logger: Logger,
  metrics: Metrics | undefined,
  workerClass?: WorkerClassOf,
) {
  const stopping = new AbortController()
  const starting = pause(headStartMs)
    .then(() => import('./start-runs-worker.ts'))
    .then((module) => module.startRunsWorker(platform, settings, logger, metrics, stopping.signal, workerClass))
  const ready = starting.then(() => undefined)
  const finished = starting.then(
    ({ finished }) => finished,
    (error: unknown) => {
      if (!stopping.signal.aborted) throw error
    },
  )
  // Callers may await these later, so a failure before that must not count as unhandled.
  for (const promise of [ready, finished]) promise.catch(() => undefined)
  let updateMetrics: (() => void) | undefined
  starting.then(
    (served) => (updateMetrics = served.updateMetrics),
    () => undefined,
  )
  return {
    ready,
    /** Rejects when the worker could not start, or failed. */
    finished,
    updateMetrics: () => updateMetrics?.(),
    stop: async () => {
      stopping.abort()
      const served = await starting.catch(() => undefined)
      await served?.stop()
    },
  }
}
