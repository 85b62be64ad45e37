import { migrate } from '../composition/migrations.ts'
import { reasonOf } from '../domain/reason-of.ts'
import { loadSettings } from '../infra/config.ts'
import { createLogger } from '../infra/logger.ts'
// Not used here, but loaded now, while the servers start.
import '../api/start-api.ts'
import { goAhead } from './go-ahead.ts'

/**
 * The API of `npm start`. It loads its code while the servers start, and it migrates the database itself: elsewhere that
 * is a job of its own, but a process more takes time.
 */
await goAhead()
try {
  const settings = loadSettings(process.env)
  const logger = createLogger('migrate', settings.logLevel)
  logger.info(await migrate(settings, logger), 'migrations done')
} catch (error) {
  console.error(`The migrations of the database (MONGODB_URI) failed: ${reasonOf(error)}`)
  process.exit(1)
}
await import('../api/server.ts')
