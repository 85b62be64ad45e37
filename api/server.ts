import { runService } from '../infra/program.ts'
import { startApi } from './start-api.ts'

await runService('api', async (settings, logger) => {
  const api = await startApi(settings, logger)
  logger.info({ address: api.address }, 'listening')
  return api
})
