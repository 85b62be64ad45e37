import { runMigrationJob } from '../composition/migration-job.ts'
import { reasonOf } from '../domain/reason-of.ts'
import { loadSettings } from '../infra/config.ts'
// Not used here, but loaded now, while the servers start.
import '../api/start-api.ts'
import { goAhead } from './go-ahead.ts'

/**
 * The API of `npm start`. It loads its code while the servers start, and it migrates the database itself: elsewhere a job
 * does that, but one more process would make the start slower.
 */
await goAhead()
try {
  await runMigrationJob(loadSettings(process.env))
} catch (error) {
  console.error(`The migrations of the database (MONGODB_URI) failed: ${reasonOf(error)}`)
  process.exit(1)
}
await import('../api/server.ts')
