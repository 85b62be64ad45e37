import type { mongo } from 'mongoose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, acknowledged, minRounds, roundsMeanwhile, runInProcess, startDatabase } from './support.ts'

type Counter = { _id: number; n: number }

describe('open transactions in the database of npm start', () => {
  let database: TestDatabase
  let db: mongo.Db
  beforeAll(async () => {
    database = await startDatabase()
    db = database.connect()
    await others().insertOne({ _id: 1, n: 0 })
  })
  afterAll(() => database.close())

  const collection = (name: string) => db.collection<Counter>(name)
  const others = () => collection('others')
  const plusOne = { $inc: { n: 1 } }
  const transaction = (work: (session: mongo.ClientSession) => Promise<unknown>) =>
    db.client.withSession((session) =>
      session.withTransaction(work, { readConcern: 'snapshot', writeConcern: acknowledged }),
    )

  const plainWrites = {
    deleteMany: (records: mongo.Collection<Counter>) => records.deleteMany({ _id: { $in: [1, 5] } }),
    updateMany: (records: mongo.Collection<Counter>) =>
      records.updateMany({ _id: { $in: [1, 5] } }, { $inc: { n: 100 } }),
    updateOne: (records: mongo.Collection<Counter>) => records.updateOne({ _id: 1 }, { $inc: { n: 100 } }),
  }

  it.each(['deleteMany', 'updateMany', 'updateOne'] as const)(
    'make a plain %s on one of their records wait, without blocking others',
    async (kind) => {
      const records = collection(`met_by_${kind}`)
      await records.insertMany(Array.from({ length: 10 }, (_, index) => ({ _id: index, n: 0 })))
      const session = db.client.startSession()
      session.startTransaction()
      await records.updateOne({ _id: 1 }, plusOne, { session })
      let isDone = false
      const plain = plainWrites[kind](records).then(() => (isDone = true))
      // Statements of others show that time goes by for the waiting one, too.
      for (let round = 0; round < 20; round++) {
        await others().updateOne({ _id: 1 }, plusOne)
        await transaction((other) => others().updateOne({ _id: 1 }, plusOne, { session: other }))
      }
      // Another record of the same collection, which the waiting statement must leave to it.
      await records.updateOne({ _id: 2 }, plusOne, { session })
      expect(isDone).toBe(false)
      await session.commitTransaction()
      await session.endSession()
      await plain
      const left = await records
        .find({ _id: { $in: [1, 2] } })
        .sort({ _id: 1 })
        .toArray()
      const second = { _id: 2, n: 1 }
      expect(left).toEqual(kind === 'deleteMany' ? [second] : [{ _id: 1, n: 101 }, second])
    },
  )

  it('unlock their records within seconds after their client was killed', async () => {
    const records = collection('orphaned')
    await records.insertOne({ _id: 1, n: 0 })
    await runInProcess(
      database.url,
      `const session = db.client.startSession()
       session.startTransaction()
       await db.collection('orphaned').updateOne({ _id: 1 }, { $inc: { n: 1 } }, { session })
       process.kill(process.pid, 'SIGKILL')`,
    )
    const limitMs = 40_000
    const update = records.updateOne({ _id: 1 }, { $inc: { n: 10 } }).then(() => true)
    const tooLate = new Promise<false>((resolve) => setTimeout(resolve, limitMs, false).unref())
    expect(await Promise.race([update, tooLate])).toBe(true)
    expect(await records.findOne({ _id: 1 })).toEqual({ _id: 1, n: 10 })
  })

  it('continue when their client was only silent for a while', async () => {
    const records = collection('silent')
    await records.insertOne({ _id: 1, n: 0 })
    await transaction(async (session) => {
      await records.updateOne({ _id: 1 }, plusOne, { session })
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      await records.updateOne({ _id: 1 }, plusOne, { session })
    })
    expect(await records.findOne({ _id: 1 })).toEqual({ _id: 1, n: 2 })
  })

  it('with a long statement do not block unrelated statements', async () => {
    const big = collection('big')
    for (let from = 0; from < 8_000; from += 2_000) {
      await big.insertMany(Array.from({ length: 2_000 }, (_, index) => ({ _id: from + index, n: 1 })))
    }
    const { rounds } = await roundsMeanwhile(
      () => transaction((session) => big.deleteMany({ n: 1 }, { session })),
      async () => {
        await others().updateOne({ _id: 1 }, plusOne)
        await transaction((session) => others().updateOne({ _id: 1 }, plusOne, { session }))
      },
    )
    expect(await big.countDocuments()).toBe(0)
    expect(rounds).toBeGreaterThan(minRounds)
  })

  it('are not refused for a duplicate when another that had changed their record is aborted', async () => {
    const records = db.collection<Counter & { name: string }>('unique')
    await records.createIndex({ name: 1 }, { unique: true })
    await records.insertOne({ _id: 1, n: 0, name: 'one' })
    const aborted = new Error('aborted')
    const rounds = 30
    for (let round = 0; round < rounds; round += 1) {
      const outcomes = await Promise.allSettled(
        [false, true, true, true].map((isAborted) =>
          transaction(async (session) => {
            await records.updateOne({ _id: 1 }, plusOne, { session })
            if (isAborted) throw aborted
          }),
        ),
      )
      expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : undefined))).toEqual([
        undefined,
        aborted,
        aborted,
        aborted,
      ])
    }
    expect(await records.findOne({ _id: 1 })).toEqual({ _id: 1, n: rounds, name: 'one' })
    await expect(records.insertOne({ _id: 2, n: 0, name: 'one' })).rejects.toThrow('E11000')
  })

  it('on one record are executed one after the other, each completely', async () => {
    const left = collection('left')
    const right = collection('right')
    await left.insertOne({ _id: 1, n: 10 })
    const takers = Array.from({ length: 10 }, (_, index) =>
      transaction(async (session) => {
        const taken = await left.updateOne({ _id: 1, n: { $gt: 4 } }, { $inc: { n: -1 } }, { session })
        if (taken.modifiedCount === 1) await right.insertOne({ _id: index, n: 1 }, { session })
      }),
    )
    await Promise.all(takers)
    expect(await left.findOne({ _id: 1 })).toEqual({ _id: 1, n: 4 })
    expect(await right.countDocuments()).toBe(6)
  })
})
