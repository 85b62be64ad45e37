import mongoose from 'mongoose'
import type { Collections } from '../../services/collections.ts'
import type { RunInTransaction } from '../../services/transactions.ts'
import { prepareBlobStore } from './blob-store.ts'
import { accountModels } from './models/accounts.ts'
import { feedbackModels } from './models/feedback.ts'
import { coreModels } from './models/core.ts'
import { deletionModels } from './models/deletion.ts'
import { knowledgeModels } from './models/knowledge.ts'

export interface Database {
  collections: Collections
  connection: mongoose.Connection
  transaction: RunInTransaction
  /** Rejects when the database does not answer within a second. */
  ping(): Promise<void>
  close(): Promise<void>
}

/**
 * Connects, makes the collections and their indexes (both are safe to repeat), and returns them.
 * Writes are acknowledged by a majority and journalled: a lower concern was seen to lose
 * acknowledged writes when the database was killed.
 */
export async function connectDatabase(uri: string): Promise<Database> {
  const connection = mongoose.createConnection(uri, {
    writeConcern: { w: 'majority', journal: true },
    serverSelectionTimeoutMS: 5000,
    socketTimeoutMS: 60_000,
    maxPoolSize: 50,
  })
  connection.on('error', () => {
    // Operations report their own failures; without a listener the emitter would end the process.
  })
  await connection.asPromise()
  const collections = {
    ...coreModels(connection),
    ...accountModels(connection),
    ...feedbackModels(connection),
    ...knowledgeModels(connection),
    ...deletionModels(connection),
  }
  for (const model of Object.values(connection.models)) {
    await model.createCollection()
    await model.createIndexes()
  }
  await prepareBlobStore(connection)
  return {
    collections,
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
