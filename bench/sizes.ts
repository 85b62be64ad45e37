import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import mongoose from 'mongoose'
import { connectRedis } from '../infra/redis/connect.ts'
import { newUser } from './database/user.ts'
import type { BenchContext } from './environment.ts'
import { newKnowledge } from './knowledge/client.ts'

const runs = 20
const question =
  'How many words does an ordinary question of a person have? About as many as this one, which asks twice.'

/** The size of one record, run and chunk in each store, which docs/scale.md uses. */
export async function benchSizes(context: BenchContext): Promise<void> {
  const user = await newUser(context)
  const { assistant_id: assistant } = await user.call('POST', '/assistants/', { name: 'Sizes' })
  const { thread_id: thread } = await user.call('POST', '/threads/', { name: 'Sizes' })
  for (let index = 0; index < runs; index++) {
    const body = { assistant_id: assistant, thread_id: thread, input: [{ type: 'human', content: question }] }
    const { run_id: run } = await user.call('POST', '/runs/', body)
    while (!['success', 'error'].includes(String((await user.call('GET', `/runs/${String(run)}`)).status)))
      await pause(50)
  }
  const knowledge = await newKnowledge(context)
  const text = await readFile(path.join(import.meta.dirname, 'corpus/devils-dictionary.txt'))
  await knowledge.upload([{ name: 'dictionary.txt', content: new Blob([text]) }])

  const { env, log } = context
  const connection = await mongoose.createConnection(String(env['MONGODB_URI'])).asPromise()
  log('\n| collection | records | bytes of one record |\n| --- | --- | --- |')
  const collections = (await connection.db?.listCollections({}, { nameOnly: true }).toArray()) ?? []
  for (const { name } of collections.toSorted((a, b) => a.name.localeCompare(b.name))) {
    const records = (await connection.db?.collection(name).find().limit(200).toArray()) ?? []
    if (records.length === 0) continue
    const bytes = records.reduce((sum, record) => sum + mongoose.mongo.BSON.calculateObjectSize(record), 0)
    const count = await connection.db?.collection(name).countDocuments()
    log(`| ${name} | ${count} | ${Math.round(bytes / records.length)} |`)
  }
  await connection.close()

  const temporal = await Connection.connect({ address: String(env['TEMPORAL_ADDRESS']) })
  const { raw, historyLength, historySize } = await new Client({ connection: temporal }).workflow
    .getHandle(`thread/${String(thread)}`)
    .describe()
  log(
    `\nThe workflow of a run: ${historyLength} events, ${historySize} bytes of history (${raw.workflowExecutionInfo?.status})`,
  )
  await temporal.close()

  const redis = await connectRedis(String(env['REDIS_URL']), { onError: () => undefined, timeoutMs: 4000 })
  let keys = 0
  let bytes = 0
  for (const client of redis.primaries()) {
    for await (const found of client.scanIterator({ COUNT: 1000 })) {
      for (const key of [found].flat()) {
        keys += 1
        bytes += (await client.memoryUsage(key)) ?? 0
      }
    }
  }
  log(`Redis: ${keys} keys of ${runs} runs, ${Math.round(bytes / runs)} bytes a run`)
  await redis.close()
}
