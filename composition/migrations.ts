// Before a change: docs/traps.md, What else changes with a change.
import type { Settings } from '../infra/config.ts'
import type { Logger } from '../infra/logger.ts'
import { makeBlobIndexes } from '../infra/mongo/blob-store.ts'
import { connectForMaintenance } from '../infra/mongo/connect-for-maintenance.ts'
import type { Database } from '../infra/mongo/connect.ts'
import { makeDeclared } from '../infra/mongo/declared-collections.ts'
import { type MigrationStep, runMigrations } from '../infra/mongo/run-migrations.ts'

interface MigrationContext {
  database: Database
}

/**
 * Every change of the database, in order. A step that was released is never changed or removed. A new or
 * changed index: declare it with its model, and add a step here with `makeDeclared(connection, ['collection'])`.
 * The index that it replaces is dropped by a step of the next release, when no process uses it any more.
 */
const steps: MigrationStep<MigrationContext>[] = [
  {
    number: 1,
    name: 'collections and indexes',
    async run({ database: { connection } }) {
      await makeDeclared(connection)
      await makeBlobIndexes(connection)
    },
  },
  {
    number: 2,
    name: 'containers, groups, members of projects and what they share, batches and copies of files, evaluations',
    run: ({ database: { connection } }) =>
      makeDeclared(connection, [
        'threads',
        'files',
        'file_batches',
        'evaluations',
        'projects',
        'runs',
        'schedules',
        'feedback',
        'audit_entries',
        'users',
        'groups',
        'used_tokens',
      ]),
  },
  {
    number: 3,
    name: 'documents of threads, prompts of projects',
    run: ({ database: { connection } }) => makeDeclared(connection, ['documents', 'prompts']),
  },
  {
    number: 4,
    name: 'folders of threads',
    run: ({ database: { connection } }) => makeDeclared(connection, ['folders']),
  },
]

/** What the processes of this version need; see `requireSchema`. */
export const schemaVersionNeeded = steps.length

/**
 * Brings the database to `schemaVersionNeeded`. The job of `npm run migrate`. Safe to repeat, and to run in several
 * processes at once.
 */
export async function migrate(settings: Settings, logger: Logger): Promise<{ from: number; to: number }> {
  const database = await connectForMaintenance(settings)
  try {
    const log = (message: string) => logger.info(`migrations: ${message}`)
    return await runMigrations(database.connection, steps, { database }, { log })
  } finally {
    await database.close()
  }
}
