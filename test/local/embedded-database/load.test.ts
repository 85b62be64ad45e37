import { Readable } from 'node:stream'
import mongoose from 'mongoose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBlobStore, makeBlobIndexes } from '../../../infra/mongo/blob-store.ts'
import {
  type TestDatabase,
  acknowledged,
  memoryMiB,
  minRounds,
  processorMs,
  roundsMeanwhile,
  startDatabase,
} from './support.ts'

interface OwnedRecord {
  _id: number
  owner?: string
  n: number
}

/** Processor time and memory are read from `/proc`. Ratios of it hold on a busy machine, too. */
describe.runIf(process.platform === 'linux')('the database of npm start under load', () => {
  let database: TestDatabase
  let db: mongoose.mongo.Db
  beforeAll(async () => {
    database = await startDatabase()
    db = database.connect()
    await db.collection<{ _id: number; n: number }>('others').insertOne({ _id: 1, n: 0 })
  })
  afterAll(() => database.close())

  /** What a user's request may do meanwhile. */
  const otherStatements = async () => {
    const others = db.collection<{ _id: number; n: number }>('others')
    await db.client.withSession((session) =>
      session.withTransaction(() => others.updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session })),
    )
    await others.findOne({ _id: 1 })
  }
  const processorMsFor = async (work: () => Promise<unknown>) => {
    const before = await processorMs(database.pid())
    await work()
    return (await processorMs(database.pid())) - before
  }

  it('stores the ten-thousandth small record at the cost of the first ones', async () => {
    const records = db.collection<{ _id: number; text: string }>('small')
    let next = 0
    const costs: number[] = []
    for (let thousand = 1; thousand <= 10; thousand++) {
      const writer = async () => {
        while (next < thousand * 1_000) await records.insertOne({ _id: next++, text: 'x'.repeat(200) })
      }
      costs.push(await processorMsFor(() => Promise.all(Array.from({ length: 16 }, writer))))
    }
    expect(Math.min(...costs.slice(-3)) / Math.min(...costs.slice(0, 3))).toBeLessThan(2)
  }, 180_000)

  it.each<[string, (records: mongoose.mongo.Collection<OwnedRecord>, turn: number) => Promise<OwnedRecord | null>]>([
    [
      'changes one record',
      (records, turn) => records.findOneAndUpdate({ _id: turn, owner: { $ne: 'x' } }, { $inc: { n: 1 } }),
    ],
    [
      'finds one by an index of those that have a member',
      (records, turn) => records.findOne({ owner: `o${turn}`, n: 0 }),
    ],
  ])('%s among twenty thousand records at the cost of fifty', async (name, find) => {
    const costs: number[] = []
    for (const count of [50, 20_000]) {
      const records = db.collection<OwnedRecord>(`${name} ${count}`)
      await records.createIndex(
        { owner: 1, n: 1 },
        { unique: true, partialFilterExpression: { owner: { $exists: true } } },
      )
      await records.insertMany(Array.from({ length: count }, (_, index) => ({ _id: index, owner: `o${index}`, n: 0 })))
      await records.insertMany([
        { _id: -1, n: 0 },
        { _id: -2, n: 0 },
      ])
      costs.push(
        await processorMsFor(async () => {
          for (let turn = 0; turn < 50; turn++)
            expect(await find(records, turn)).toEqual({ _id: turn, owner: `o${turn}`, n: 0 })
        }),
      )
    }
    const [few = 0, many = 0] = costs
    // It took hundreds of times as much where each of them read every record.
    expect(many / Math.max(few, 50)).toBeLessThan(10)
  })

  it('finds pages of a sorted list of ten thousand, and counts the list, at the cost of fifty', async () => {
    const costs: Record<string, number[]> = {}
    for (const count of [50, 10_000]) {
      const records = db.collection<{ owner: string; at: Date; gone?: boolean; text: string }>(`list of ${count}`)
      await records.createIndex({ owner: 1, at: -1, gone: 1 })
      const record = (at: number) => ({ owner: 'a', at: new Date(at), text: 'x'.repeat(500) })
      await records.insertMany(Array.from({ length: count }, (_, index) => record(index)))
      const filter = { owner: 'a', gone: { $ne: true } }
      const page = (skip: number) => records.find(filter).sort({ at: -1 }).skip(skip).limit(20).toArray()
      let more = 0
      const works = {
        first: async () => expect(await page(0)).toHaveLength(20),
        middle: async () => expect((await page(count / 2))[0]).toMatchObject({ at: new Date(count / 2 - 1) }),
        count: async () => expect(await records.countDocuments(filter)).toBe(count),
        // Writes in the middle, which change what is known of the list.
        'with writes': async () => {
          await records.insertOne(record(count / 2))
          more += 1
          expect(await records.countDocuments(filter)).toBe(count + more)
          expect(await page(count / 2)).toHaveLength(20)
        },
      }
      for (const [name, work] of Object.entries(works)) {
        const cost = await processorMsFor(async () => {
          for (let turn = 0; turn < 30; turn++) await work()
        })
        costs[name] = [...(costs[name] ?? []), cost]
      }
    }
    // Each of them read the whole list before, or all of its index entries.
    for (const [few = 0, many = 0] of Object.values(costs)) expect(many / Math.max(few, 50)).toBeLessThan(5)
  }, 180_000)

  it('serves others while a statement reads all records of a collection', async () => {
    const many = db.collection<{ _id: number; n: number }>('read as a whole')
    for (let from = 0; from < 240_000; from += 5_000) {
      await many.insertMany(Array.from({ length: 5_000 }, (_, index) => ({ _id: from + index, n: 0 })))
    }
    const readAll = async () => expect(await many.findOne({ n: 1 })).toBeNull()
    // A machine that stands still for a moment looks like a lock, but not three times.
    const parts: number[] = []
    while (parts.length < 3 && Math.min(1, ...parts) >= 0.25)
      parts.push((await roundsMeanwhile(readAll, otherStatements)).slowestPart)
    // More than half where the storage is locked until all records are read.
    expect(Math.min(...parts)).toBeLessThan(0.25)
  }, 180_000)

  it('counts and deletes many chunks for less than storing them cost, and serves others meanwhile', async () => {
    const chunks = db.collection('chunks')
    await chunks.createIndex({ assistant_id: 1, file_id: 1, position: 1 })
    const groups = (assistant: string, count: number) =>
      Array.from(
        { length: count },
        (_, group) => () =>
          chunks.insertMany(
            Array.from({ length: 400 }, (__, index) => ({
              assistant_id: assistant,
              file_id: 'file',
              position: group * 400 + index,
              text: 'Some words of a chunk. '.repeat(40),
            })),
          ),
      )
    const store = async (assistant: string, count: number) => {
      for (const group of groups(assistant, count)) await group()
    }
    await store('kept', 1)
    const storing = await processorMsFor(() => store('deleted', 50))
    let counted = 0
    let counting = 0
    let deleting = 0
    const countAndDelete = async () => {
      counting = await processorMsFor(async () => {
        counted = await chunks.countDocuments({ assistant_id: 'deleted' })
      })
      deleting = await processorMsFor(() => chunks.deleteMany({ assistant_id: 'deleted' }))
    }
    // First alone: the statements of others would be counted with it, and an idle machine serves many of them.
    await countAndDelete()
    const costs = { counting: counting / storing, deleting: deleting / storing }
    await store('deleted', 50)
    const { rounds } = await roundsMeanwhile(countAndDelete, otherStatements)
    expect(counted).toBe(20_000)
    expect(await chunks.find({}, { projection: { assistant_id: 1 } }).toArray()).toHaveLength(400)
    expect(await chunks.countDocuments({ assistant_id: 'deleted' })).toBe(0)
    expect(await chunks.countDocuments({ assistant_id: 'kept' })).toBe(400)
    // Ids and places are free again.
    await store('deleted', 1)
    expect(await chunks.countDocuments({ assistant_id: 'deleted', file_id: 'file' })).toBe(400)
    expect(rounds).toBeGreaterThan(minRounds)
    if (database.kind === 'mongod') return
    expect(costs.counting).toBeLessThan(0.2)
    expect(costs.deleting).toBeLessThan(0.6)
  }, 180_000)

  it('gives the memory of large records and answers back', async () => {
    const large = db.collection<{ _id: number; n: number; parts: string[] }>('large')
    await large.insertOne({ _id: 1, n: 0, parts: Array.from({ length: 400 }, () => 'x'.repeat(1_000)) })
    const connection = await mongoose.createConnection(database.url, { writeConcern: acknowledged }).asPromise()
    try {
      await makeBlobIndexes(connection)
      const blobs = createBlobStore(connection)
      const blobId = blobs.newBlobId()
      const mebibyte = Buffer.alloc(1024 * 1024, 'some bytes ')
      const before = await memoryMiB(database.pid(), 'VmHWM')
      for (let round = 0; round < 300; round++) {
        await large.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }, { returnDocument: 'after' })
      }
      await blobs.write(blobId, 'assistant', Readable.from(Array.from({ length: 128 }, () => mebibyte)))
      let read = 0
      for await (const bytes of blobs.read(blobId)) read += Buffer.byteLength(bytes)
      expect(read).toBe(128 * mebibyte.length)
      await blobs.delete([blobId])
      expect(await blobs.exists(blobId)).toBe(false)
      // Of 250 MiB.
      expect((await memoryMiB(database.pid(), 'VmHWM')) - before).toBeLessThan(150)
    } finally {
      await connection.close()
    }
  }, 180_000)
})
