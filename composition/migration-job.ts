import { loadSettings } from '../infra/config.ts'
import { createLogger } from '../infra/logger.ts'
import { migrate } from './migrations.ts'

/** The migrations with the settings of this process. What they did is logged. */
export async function runMigrationJob(): Promise<void> {
  const settings = loadSettings(process.env)
  const logger = createLogger('migrate', settings.logLevel)
  logger.info(await migrate(settings, logger), 'migrations done')
}
