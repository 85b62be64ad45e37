import path from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { mongo } from 'mongoose'
import { createClient } from 'redis'
import { openFileStatuses } from '../../domain/records/file.ts'
import { openRunStatuses } from '../../domain/records/run.ts'
import type { LanceBucket } from '../../infra/vectors/lance-bucket.ts'
import { createLanceStore } from '../../infra/vectors/lancedb.ts'

/** A record as it is stored; its members are not validated. */
export type StoredRecord = Record<string, unknown>

export type Stores = Awaited<ReturnType<typeof openStores>>

/** Reads the stores directly, without the service and the proxies. */
export async function openStores({
  addresses,
  dataDir,
  bucket,
}: {
  addresses: Record<'MongoDB' | 'Redis' | 'Temporal', string>
  dataDir: string
  /** Of the vectors, where they are in no folder. */
  bucket?: LanceBucket | undefined
}) {
  const client = new mongo.MongoClient(addresses.MongoDB)
  const redis = createClient({ url: addresses.Redis })
  // A server that is killed meanwhile; without a listener the process would end.
  redis.on('error', () => undefined)
  const connection = await Connection.connect({ address: addresses.Temporal })
  const temporal = new Client({ connection })
  const vectors = createLanceStore(bucket?.uri ?? path.join(dataDir, 'lancedb'), bucket)
  await redis.connect()
  const db = client.db()

  /** Workflows that run, without those that wait for a person to use a code. */
  async function busyWorkflows(): Promise<string[]> {
    const ids: string[] = []
    for await (const { workflowId } of temporal.workflow.list({ query: 'ExecutionStatus = "Running"' }))
      if (!/^(email-verification|password-reset)\//.test(workflowId)) ids.push(workflowId)
    return ids
  }

  return {
    db,
    vectors,
    temporal,
    busyWorkflows,

    /** All work of the service that is still under way. */
    async unfinished(): Promise<string[]> {
      const of = async (name: string, filter: object) => {
        const found = await db
          .collection<{ _id: string }>(name)
          .find(filter, { projection: { _id: 1 } })
          .toArray()
        return found.map(({ _id }) => `${name} ${_id}`)
      }
      const lists = await Promise.all([
        of('runs', { status: { $in: openRunStatuses } }),
        of('files', { status: { $in: [...openFileStatuses, 'failing'].filter((status) => status !== 'uploading') } }),
        of('receipts', { status: 'running' }),
        busyWorkflows().then((ids) => ids.map((id) => `workflow ${id}`)),
      ])
      return lists.flat()
    },

    /** Every record, by collection. */
    async records(): Promise<Map<string, StoredRecord[]>> {
      const all = new Map<string, StoredRecord[]>()
      for (const { name } of await db.listCollections().toArray()) {
        // Bytes of files are counted, not read.
        const projection = name === 'blobs.chunks' ? { data: 0 } : {}
        all.set(name, await db.collection<StoredRecord>(name).find({}, { projection }).toArray())
      }
      return all
    },

    async redisKeys(): Promise<string[]> {
      const keys: string[] = []
      for await (const found of redis.scanIterator({ COUNT: 1000 })) keys.push(...[found].flat())
      return keys
    },

    async close(): Promise<void> {
      await Promise.all([client.close(), redis.close(), connection.close(), vectors.close()])
    },
  }
}
