import { runService } from '../infra/program.ts'
import { startWorker } from './start-worker.ts'

await runService('worker', async (settings, logger) => {
  const worker = await startWorker(settings, logger)
  logger.info({ queues: worker.queues }, 'worker ready')
  return worker
})
