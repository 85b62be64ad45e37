import { existsSync } from 'node:fs'
import { runMigrationJob } from '../composition/migration-job.ts'

/** The database migrations: run it once before processes of a new version start, beside those of the old one. */
if (existsSync('.env')) process.loadEnvFile('.env')

try {
  await runMigrationJob()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
