import { setTimeout as pause } from 'node:timers/promises'
import type mongoose from 'mongoose'
import type { SchemaStateRecord } from '../../domain/records/schema-state.ts'

const pauseMs = 250

export function schemaState(connection: mongoose.Connection): mongoose.mongo.Collection<SchemaStateRecord> {
  const { db } = connection
  if (!db) throw new Error('the database is not connected')
  return db.collection<SchemaStateRecord>('schema_state')
}

/** The number of the last migration step that was completed; 0 for a new database, or one from before the steps. */
export async function schemaVersion(connection: mongoose.Connection): Promise<number> {
  const state = await schemaState(connection).findOne({ _id: 'schema' }, { projection: { version: 1 } })
  return state?.version ?? 0
}

/**
 * Throws when the database has not reached the `needed` version within `waitSeconds`. A newer database is
 * accepted: during an upgrade, processes of the previous version continue to run with it.
 */
export async function requireSchema(
  connection: mongoose.Connection,
  needed: number,
  { waitSeconds, onWait }: { waitSeconds: number; onWait?: (message: string) => void },
): Promise<void> {
  const deadline = Date.now() + waitSeconds * 1000
  let version = await schemaVersion(connection)
  if (version < needed && waitSeconds > 0)
    onWait?.(`the database is at schema version ${version}; waiting for the migrations up to ${needed}`)
  while (version < needed && Date.now() < deadline) {
    await pause(pauseMs)
    version = await schemaVersion(connection)
  }
  if (version < needed)
    throw new Error(
      `The database is at schema version ${version}, and this version of the service needs ${needed}. ` +
        'Run the migrations first: npm run migrate (in the container image: node dist/migrate.mjs).',
    )
}
