import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { mongo } from 'mongoose'
import { describe, expect, it } from 'vitest'
import { embeddedArgs, embeddedEnv } from '../../../local/embedded-database/index.ts'
import { mongoUrl, prepareMongo } from '../../../local/services/mongo/index.ts'
import { accepts, freePort } from '../../../local/services/ports.ts'
import { startServer } from '../../../local/services/server-process.ts'

const { value: server } = await prepareMongo(() => undefined)

describe.runIf(server.kind === 'secantusdb')('the embedded database with a full cache', () => {
  it('goes on while open transactions hold more than fits into the cache', async () => {
    const home = await mkdtemp(path.join(tmpdir(), 'assistant-eviction-'))
    const port = await freePort()
    // The last argument is the size of the cache.
    const args = embeddedArgs({ port, home }).with(-1, '4M')
    const running = await startServer(
      {
        name: 'MongoDB',
        command: server.command,
        args,
        env: { ...process.env, ...embeddedEnv },
        cwd: home,
        logFile: path.join(home, 'log'),
        ready: () => accepts(port),
      },
      undefined,
    )
    const client = new mongo.MongoClient(mongoUrl(server, port), { socketTimeoutMS: 40_000 })
    try {
      const records = client.db().collection<{ _id: number; n: number; text: string }>('large')
      const text = 'x'.repeat(100_000)
      const counters = client.db().collection<{ _id: number; n: number }>('counters')
      await counters.insertOne({ _id: 1, n: 0 })
      await records.insertMany(Array.from({ length: 40 }, (_, index) => ({ _id: index, n: 0, text })))
      // What it has read and written stays in the cache until it ends.
      await client.withSession((session) =>
        session.withTransaction(async () => {
          await counters.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session })
          await records.insertMany(
            Array.from({ length: 20 }, (_, index) => ({ _id: 1_000 + index, n: 0, text })),
            { session },
          )
          const writer = async (slot: number) => {
            for (let turn = slot; turn < 400; turn += 8) await records.updateOne({ _id: turn % 40 }, { $inc: { n: 1 } })
          }
          const own = async () => {
            for (let turn = 0; turn < 100; turn++) await counters.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session })
          }
          await Promise.all([own(), ...Array.from({ length: 8 }, (_, slot) => writer(slot))])
        }),
      )
      expect(await counters.findOne({ _id: 1 })).toEqual({ _id: 1, n: 101 })
      expect(await records.countDocuments({ n: 10 })).toBe(40)
    } finally {
      await client.close(true)
      await running.stop()
      await rm(home, { recursive: true, force: true })
    }
  })
})
