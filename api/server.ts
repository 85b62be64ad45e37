import { existsSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import closeWithGrace from 'close-with-grace'
import { loadSettings } from '../infra/config.ts'
import { createLogger } from '../infra/logger.ts'
import { startApi } from './start-api.ts'

if (existsSync('.env')) process.loadEnvFile('.env')

try {
  const settings = loadSettings(process.env)
  const logger = createLogger('api', settings.logLevel)
  for (const warning of settings.warnings) logger.warn(warning)
  const api = await startApi(settings, logger)
  logger.info({ address: api.address }, 'listening')
  // With NODE_COMPILE_CACHE, the next start finds the compiled code, also after a crash.
  flushCompileCache()
  const grace = closeWithGrace({ delay: (settings.shutdownGraceSeconds + 10) * 1000, logger }, async ({ err }) => {
    if (err) logger.error({ err }, 'stopping after an unexpected error')
    await api.close()
  })
  api.finished.catch((error: unknown) => {
    logger.fatal({ err: error }, 'the worker of this process failed')
    grace.uninstall()
    process.exit(1)
  })
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
