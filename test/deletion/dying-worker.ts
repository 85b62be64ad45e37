import { loadSettings } from '../../infra/config.ts'
import { createLogger } from '../../infra/logger.ts'
import { startWorker } from '../../worker/start-worker.ts'

/**
 * A worker that dies (SIGKILL) when its activity number `DIE_AT` has done its work, before Temporal
 * hears of it.
 */
const settings = loadSettings(process.env)
const logger = createLogger('dying-worker', 'info')
const dieAt = Number(process.env['DIE_AT'])
let count = 0

const worker = await startWorker(settings, logger, {
  wrapActivities: (activities) =>
    Object.fromEntries(
      Object.entries(activities).map(([name, activity]: [string, (...input: unknown[]) => Promise<unknown>]) => [
        name,
        async (...input: unknown[]) => {
          count += 1
          const mine = count
          const result = await activity(...input)
          if (mine === dieAt) process.kill(process.pid, 'SIGKILL')
          return result
        },
      ]),
    ),
})
logger.info({ queues: worker.queues }, 'worker ready')
