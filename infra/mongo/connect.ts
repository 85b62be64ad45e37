import mongoose from 'mongoose'
import type { Collections } from '../../services/collections.ts'
import type { RunInTransaction } from '../../services/transactions.ts'
import { type TlsSettings, tlsOptions } from '../tls.ts'
import { declaredModels } from './models.ts'

export interface Database {
  collections: Collections
  connection: mongoose.Connection
  transaction: RunInTransaction
  /** Rejects when the database does not answer within a second. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** How often the first connection is tried: a server that has just started may take a few seconds. */
const connectAttempts = 3

/**
 * Distinguishes a server that is away from a slow one: the driver's monitor sends heartbeats to each server on a
 * separate connection. If there is no answer, the driver closes all connections to that server; waiting statements
 * are tried once more on an available server, and fail if there is none. Together this takes at most `timeoutMs`.
 * The service waits for slow statements.
 */
function timeLimits(timeoutMs: number) {
  return {
    heartbeatFrequencyMS: Math.max(500, timeoutMs / 8),
    connectTimeoutMS: (timeoutMs * 3) / 8,
    serverSelectionTimeoutMS: timeoutMs / 2,
    socketTimeoutMS: 60_000,
  }
}

/**
 * Connects, and returns the collections; the migrations make them (`composition/migrations.ts`). Writes are
 * acknowledged by a majority and journalled: a lower concern was seen to lose acknowledged writes when the database was
 * killed.
 */
export async function connectDatabase(
  uri: string,
  {
    tls = {},
    timeoutMs = 4000,
    hasLongStatements = false,
    onClient,
  }: {
    tls?: TlsSettings
    timeoutMs?: number
    /** No limit on one statement: building an index may take long. */
    hasLongStatements?: boolean
    onClient?: ((client: mongoose.mongo.MongoClient) => void) | undefined
  } = {},
): Promise<Database> {
  const files = tlsOptions(tls)
  const secure = files && { tls: true, ...files }
  const connection = mongoose.createConnection()
  connection.on('error', () => {
    // Operations report their own failures; without a listener the emitter would end the process.
  })
  for (let attempt = 1; connection.readyState !== mongoose.ConnectionStates.connected; attempt++) {
    await connection
      .openUri(uri, {
        writeConcern: { w: 'majority', journal: true },
        maxPoolSize: 50,
        // While the server is away, statements fail after the limits below instead of being queued.
        bufferCommands: false,
        ...timeLimits(timeoutMs),
        ...(hasLongStatements ? { socketTimeoutMS: 0 } : {}),
        ...secure,
        // Commands are measured only if somebody listens.
        ...(onClient === undefined ? {} : { monitorCommands: true }),
      })
      .catch((error: unknown) => {
        if (attempt === connectAttempts) throw error
      })
  }
  onClient?.(connection.getClient())
  return {
    collections: declaredModels(connection),
    connection,
    transaction: (work) =>
      connection.withSession((session) => session.withTransaction(() => work(session), transactionOptions)),
    ping: async () => {
      await connection.db?.command({ ping: 1 }, { timeoutMS: 1000 })
    },
    close: () => connection.close(),
  }
}

const transactionOptions = { readConcern: 'snapshot', writeConcern: { w: 'majority', journal: true } } as const
