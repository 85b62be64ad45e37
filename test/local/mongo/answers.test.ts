import { mongo } from 'mongoose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, startDatabase } from './support.ts'

type Item = { _id: number; owner?: unknown; place?: number }

/** What the launcher's shortcuts through indexes must answer like any MongoDB. */
describe('the database of npm start', () => {
  let database: TestDatabase
  let db: mongo.Db
  beforeAll(async () => {
    database = await startDatabase()
    db = database.connect()
  })
  afterAll(() => database.close())

  const objectId = new mongo.ObjectId('00ff00000000000000000000')
  const owners = ['a', 'ab', 'a\0', 'a\0\0', 'a\0b', '', '\0', 'ä', objectId, new mongo.ObjectId(), 1, true, null]

  it.each([{ unique: false }, { unique: true }])(
    'counts and deletes exactly the records of an owner, by an index with unique $unique',
    async ({ unique }) => {
      const items = db.collection<Item>(`items_${String(unique)}`)
      await items.createIndex({ owner: 1, place: 1 }, { unique })
      let id = 0
      const all = owners.flatMap((owner) => [1, 2, 3].map((place) => ({ _id: id++, owner, place })))
      await items.insertMany(all)
      for (const [index, owner] of owners.entries()) {
        const left = 3 * (owners.length - index)
        expect(await items.countDocuments({ owner })).toBe(3)
        expect(await items.countDocuments({ owner, place: 2 })).toBe(1)
        expect((await items.deleteMany({ owner })).deletedCount).toBe(3)
        expect(await items.countDocuments({ owner })).toBe(0)
        expect(await items.countDocuments()).toBe(left - 3)
      }
      // Nothing of them is left in the way of new ones.
      await items.insertMany(all)
      expect(await items.find({ owner: 'a' }).toArray()).toHaveLength(3)
      const several = { owner: { $in: ['a', 'ab', 'a', 'nobody'] } }
      expect(await items.countDocuments(several)).toBe(6)
      expect((await items.deleteMany(several)).deletedCount).toBe(6)
      expect(await items.countDocuments()).toBe(all.length - 6)
    },
  )

  it('counts and deletes by values in arrays and by several indexes', async () => {
    const items = db.collection<Item>('listed')
    await items.createIndex({ owner: 1 })
    await items.insertMany([
      { _id: 1, owner: 'a' },
      { _id: 2, owner: ['a', 'b', 'a'] },
      { _id: 3, owner: ['b'] },
      { _id: 4 },
    ])
    expect(await items.countDocuments({ owner: 'a' })).toBe(2)
    await items.createIndex({ place: 1 })
    await items.updateOne({ _id: 3 }, { $set: { place: 7 } })
    expect((await items.deleteMany({ owner: 'b' })).deletedCount).toBe(2)
    expect(await items.find({ place: 7 }).toArray()).toEqual([])
    expect((await items.find().toArray()).map(({ _id }) => _id)).toEqual([1, 4])
  })

  it('shows changes of a transaction only within it', async () => {
    const items = db.collection<Item>('seen')
    await items.createIndex({ owner: 1 })
    await items.insertMany([
      { _id: 1, owner: 'a' },
      { _id: 2, owner: 'a' },
    ])
    await db.client.withSession(async (session) => {
      session.startTransaction()
      await items.insertOne({ _id: 3, owner: 'a' }, { session })
      expect(await items.countDocuments({ owner: 'a' }, { session })).toBe(3)
      expect(await items.countDocuments({ owner: 'a' })).toBe(2)
      expect((await items.deleteMany({ owner: 'a' }, { session })).deletedCount).toBe(3)
      expect(await items.countDocuments({ owner: 'a' }, { session })).toBe(0)
      expect(await items.countDocuments({ owner: 'a' })).toBe(2)
      await session.abortTransaction()
    })
    expect(await items.countDocuments({ owner: 'a' })).toBe(2)
  })

  it('uses an index as soon as it is created, and no longer after it is dropped', async () => {
    const items = db.collection<Item>('reindexed')
    await items.insertMany([
      { _id: 1, owner: 'a' },
      { _id: 2, owner: 'b' },
    ])
    for (const unique of [false, true]) {
      const name = await items.createIndex({ owner: 1 }, { unique })
      expect(await items.countDocuments({ owner: 'a' })).toBe(1)
      const again = await items.insertOne({ _id: 3, owner: 'b' }).then(
        () => 'taken',
        (error: { code?: number }) => error.code,
      )
      expect(again).toBe(unique ? 11000 : 'taken')
      await items.deleteOne({ _id: 3 })
      await items.dropIndex(name)
      expect(await items.countDocuments({ owner: 'a' })).toBe(1)
    }
  })

  it('starts with its data after a crash, and overwrites nothing', async () => {
    const names = ['first', 'second', 'third', 'fourth']
    const idsOf = async (name: string) =>
      (await db.collection<Item>(name).find().toArray()).map(({ _id }) => _id).toSorted((a, b) => a - b)
    const oneToTwenty = Array.from({ length: 20 }, (_, index) => index + 1)
    for (const id of oneToTwenty.slice(0, 10)) {
      for (const name of names) await db.collection<Item>(name).insertOne({ _id: id })
    }
    await db.dropCollection('fourth')
    await database.kill()
    await database.restart()
    for (const id of oneToTwenty.slice(10)) {
      for (const name of names) await db.collection<Item>(name).insertOne({ _id: id })
    }
    for (const name of names.slice(0, 3)) expect(await idsOf(name)).toEqual(oneToTwenty)
    expect(await idsOf('fourth')).toEqual(oneToTwenty.slice(10))
  })
})
