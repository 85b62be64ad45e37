import { runMigrationJob } from '../composition/migration-job.ts'
import { runProgram } from '../infra/program.ts'

/** The database migrations: run it once before processes of a new version start, beside those of the old one. */
await runProgram(runMigrationJob)
