import type { RunningService } from './service.ts'

/** Every record of the service's database, as the driver gives it. */
export async function rawDatabase({ api }: RunningService): Promise<unknown[]> {
  const { db } = api.infra.database.connection
  if (db === undefined) throw new Error('the database is not connected')
  const collections = await db.listCollections().toArray()
  const records = await Promise.all(collections.map(({ name }) => db.collection(name).find().toArray()))
  return records.flat()
}

/** Every value in Redis, also those of other tests. */
export async function rawRedis({ redis }: RunningService): Promise<unknown[]> {
  const values: unknown[] = []
  for await (const keys of redis.scanIterator({ COUNT: 1000 })) {
    for (const key of [keys].flat()) values.push([key, await valueOf(key)])
  }
  return values

  async function valueOf(key: string): Promise<unknown> {
    switch (await redis.type(key)) {
      case 'string':
        return redis.get(key)
      case 'hash':
        return redis.hGetAll(key)
      case 'list':
        return redis.lRange(key, 0, -1)
      case 'set':
        return redis.sMembers(key)
      case 'zset':
        return redis.zRange(key, 0, -1)
      case 'stream':
        return redis.xRange(key, '-', '+')
      default:
        return undefined
    }
  }
}
