import type { Settings } from '../infra/config.ts'
import { createLogger } from '../infra/logger.ts'
import { migrate } from './migrations.ts'

/** The migrations; what they did is logged. */
export async function runMigrationJob(settings: Settings): Promise<void> {
  const logger = createLogger('migrate', settings.logLevel)
  logger.info(await migrate(settings, logger), 'migrations done')
}
