import { existsSync } from 'node:fs'
import { migrate } from '../composition/migrations.ts'
import { loadSettings } from '../infra/config.ts'
import { createLogger } from '../infra/logger.ts'

/** The database migrations: run it once before processes of a new version start, beside those of the old one. */
if (existsSync('.env')) process.loadEnvFile('.env')

try {
  const settings = loadSettings(process.env)
  const logger = createLogger('migrate', settings.logLevel)
  logger.info(await migrate(settings, logger), 'migrations done')
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
