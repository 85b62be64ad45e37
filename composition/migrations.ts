// Before a change: docs/traps.md, What else changes with a change.
import type { Settings } from '../infra/config.ts'
import type { Logger } from '../infra/logger.ts'
import { makeBlobIndexes, ownOldBlobs } from '../infra/mongo/blob-store.ts'
import type { Database } from '../infra/mongo/connect.ts'
import { connectForMaintenance } from '../infra/mongo/connect-for-maintenance.ts'
import { dropIndexes, makeDeclared } from '../infra/mongo/declared-collections.ts'
import { type MigrationStep, runMigrations } from '../infra/mongo/run-migrations.ts'
import { createAssistantConfigs } from '../services/assistants/configs.ts'
import { createStoredConfigs } from '../services/assistants/stored-configs.ts'
import { storeMissingWords } from '../services/threads/missing-words.ts'
import { createSecretBox, createTokenHashes } from '../services/secrets.ts'

interface MigrationContext {
  database: Database
  settings: Pick<Settings, 'secretsKey' | 'secretsKeyPrevious'>
  logger: Logger
}

/**
 * Every change of the database, in order. A step that was released is never changed or removed. A new or
 * changed index: declare it with its model, and add a step here with `makeDeclared(connection, ['collection'])`.
 * The index that it replaces is dropped by a step of the next release (`stepsOfNextRelease`), when no process uses it
 * any more.
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
    name: 'drop the indexes that newer ones cover',
    run: ({ database: { connection } }) =>
      dropIndexes(connection, {
        users: ['verified_1_created_at_1', 'last_active_at_1'],
        assistants: ['project_id_1_created_at_1', 'public_1_created_at_1'],
        threads: ['user_id_1_project_id_1_public_1_updated_at_-1'],
        runs: [
          'thread_id_1_created_at_-1',
          'user_id_1_created_at_-1',
          'status_1_created_at_1',
          'assistant_id_1_status_1',
          'deciding_since_1',
        ],
        receipts: ['subject_id_1_created_at_-1'],
        feedback: ['run_id_1_created_at_1'],
        files: ['assistant_id_1_created_at_1_order_1', 'ingestion_id_1_order_1'],
      }),
  },
  {
    number: 3,
    name: 'name the owners of old blobs',
    run: ({ database: { connection } }) => ownOldBlobs(connection),
  },
  {
    number: 4,
    name: 'seal configurations that are stored in clear',
    async run({ database: { collections }, settings, logger }) {
      const configs = createAssistantConfigs(
        createSecretBox(settings.secretsKey, settings.secretsKeyPrevious),
        createTokenHashes(settings.secretsKey, settings.secretsKeyPrevious),
      )
      const onTakenToken = (assistantId: string) =>
        logger.warn({ assistant_id: assistantId }, 'another assistant holds the public token of this one')
      const sealed = await createStoredConfigs({ collections, configs, onTakenToken }).seal()
      if (sealed > 0) logger.info({ sealed }, 'sealed configurations that were stored in clear')
    },
  },
  {
    number: 5,
    name: 'runs by user and time',
    run: ({ database: { connection } }) => makeDeclared(connection, ['runs']),
  },
  {
    number: 6,
    name: 'audit log',
    run: ({ database: { connection } }) => makeDeclared(connection, ['audit_entries']),
  },
  {
    number: 7,
    name: 'budgets',
    run: ({ database: { connection } }) => makeDeclared(connection, ['budgets']),
  },
  {
    number: 8,
    name: 'threads by retention',
    run: ({ database: { connection } }) => makeDeclared(connection, ['threads']),
  },
  {
    number: 9,
    name: 'audit log by action',
    run: ({ database: { connection } }) => makeDeclared(connection, ['audit_entries']),
  },
  {
    number: 10,
    name: 'imported runs',
    run: ({ database: { connection } }) => makeDeclared(connection, ['runs']),
  },
  {
    number: 11,
    name: 'vector stores and files of projects',
    run: ({ database: { connection } }) => makeDeclared(connection, ['assistants', 'files']),
  },
  {
    number: 12,
    name: 'parts of messages, and stored completions',
    run: ({ database: { connection } }) => makeDeclared(connection, ['attachments', 'runs']),
  },
  {
    number: 13,
    name: 'schedules',
    run: ({ database: { connection } }) => makeDeclared(connection, ['schedules', 'schedule_runs']),
  },
  {
    number: 14,
    name: 'model settings',
    run: ({ database: { connection } }) => makeDeclared(connection, ['model_settings']),
  },
  {
    number: 15,
    name: 'logins of programs',
    run: ({ database: { connection } }) => makeDeclared(connection, ['program_logins']),
  },
  {
    number: 16,
    name: 'prompts of users',
    run: ({ database: { connection } }) => makeDeclared(connection, ['prompts']),
  },
  {
    number: 17,
    name: 'facts that assistants keep',
    run: ({ database: { connection } }) => makeDeclared(connection, ['memories']),
  },
  {
    number: 18,
    name: 'assistants that ask assistants',
    run: ({ database: { connection } }) => makeDeclared(connection, ['threads', 'runs']),
  },
  {
    number: 19,
    name: 'words of messages, pinned and tagged threads, shared threads',
    run: ({ database: { connection } }) => makeDeclared(connection, ['threads', 'checkpoints', 'shares']),
  },
  {
    number: 20,
    name: 'words of the messages that are there',
    async run({ database: { collections }, logger }, signal) {
      const stored = await storeMissingWords(collections, signal)
      if (stored > 0) logger.info({ stored }, 'stored the words of messages')
    },
  },
  {
    number: 21,
    name: 'sources of the web',
    run: ({ database: { connection } }) => makeDeclared(connection, ['sources', 'source_pages', 'files']),
  },
  {
    number: 22,
    name: 'entries of a run by thread',
    run: ({ database: { connection } }) => makeDeclared(connection, ['checkpoints']),
  },
  {
    number: 23,
    name: 'archived threads',
    run: ({ database: { connection } }) => makeDeclared(connection, ['threads']),
  },
  {
    number: 24,
    name: 'images and files of messages by owner',
    run: ({ database: { connection } }) => makeDeclared(connection, ['attachments']),
  },
]

/**
 * They remove what processes of the version before still use, so this version does not run them. When it is released,
 * the next one begins with them.
 */
export const stepsOfNextRelease: Omit<MigrationStep<Pick<MigrationContext, 'database'>>, 'number'>[] = [
  {
    name: 'drop the index of entries by run without thread',
    run: ({ database: { connection } }) => dropIndexes(connection, { checkpoints: ['run_id_1_step_1'] }),
  },
  {
    name: 'drop the index of runs by the run that asked',
    run: ({ database: { connection } }) => dropIndexes(connection, { runs: ['asked_by.run_id_1'] }),
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
    return await runMigrations(database.connection, steps, { database, settings, logger }, { log })
  } finally {
    await database.close()
  }
}
