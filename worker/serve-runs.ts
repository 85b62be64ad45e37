import type { Platform } from '../composition/platform.ts'
import type { Logger } from '../infra/logger.ts'
import { every } from './every.ts'

const sweepEveryMs = 15_000

/**
 * Further tasks of a process with a worker of the queue `runs`: it learns which runs were taken over, and sweeps
 * open runs.
 */
export async function serveRuns({ runs, core }: Platform, logger: Logger): Promise<() => Promise<void>> {
  const stopListening = await core.stream.onSuperseded(runs.engine.attempts.supersede)
  const stopSweeping = every(
    sweepEveryMs,
    () => runs.sweepRuns(),
    (error) => logger.warn({ err: error }, 'the sweep of open runs failed'),
  )
  return async () => {
    await stopSweeping()
    await stopListening()
  }
}
