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

  it('finds the same pages and counts of a sorted list with and without an index', async () => {
    interface Listed {
      _id: string
      owner: string
      shown: unknown
      at: unknown
      gone?: unknown
    }
    const oneOf = <T>(values: T[], index: number) => values[index % values.length] as T
    const id = (index: number) => String(index).padStart(4, '0')
    // Many of the same date, and numbers and texts that end like the value that the filter excludes.
    const dates = Array.from({ length: 40 }, (_, day) => new Date(Date.UTC(2026, 0, day)))
    const ends = [true, true, false, null, 1, 2305, '\0\0\t\x01', 'a']
    const all = Array.from({ length: 600 }, (_, index): Listed => {
      const gone = index % 2 === 0 ? { gone: oneOf(ends, index / 2) } : {}
      const shown = index % 5 > 1
      return { _id: id(index), owner: oneOf(['a', 'ab', 'a\0'], index), shown, at: oneOf(dates, index * 7), ...gone }
    })
    const sort = { at: -1, _id: -1 } as const
    const plain = db.collection<Listed>('plain')
    const indexed = db.collection<Listed>('indexed')
    await indexed.createIndex({ owner: 1, shown: 1, at: -1, _id: -1, gone: 1 })
    for (const collection of [plain, indexed]) await collection.insertMany(all)
    const compare = async () => {
      for (const owner of ['a', 'ab', 'a\0', 'nobody']) {
        const filter = { owner, shown: true, gone: { $ne: true } }
        const list = (await plain.find(filter).sort(sort).toArray()).map(({ _id }) => _id)
        for (const skip of [0, 1, 49, 50, 90])
          for (const limit of [1, 7, 60])
            expect(
              (await indexed.find(filter).sort(sort).skip(skip).limit(limit).toArray()).map(({ _id }) => _id),
            ).toEqual(list.slice(skip, skip + limit))
        expect(await indexed.countDocuments(filter)).toBe(list.length)
        expect(await indexed.find({ owner, at: dates[3] }).sort({ at: -1 }).limit(100).toArray()).toHaveLength(
          await plain.countDocuments({ owner, at: dates[3] }),
        )
      }
    }
    await compare()
    // Values that an index does not have in the order of the sort.
    const others: Listed[] = [
      { _id: 'x', owner: 'a', shown: true, at: 'a text' },
      { _id: 'y', owner: 'a', shown: true, at: null },
      { _id: 'z', owner: 'a', shown: true, at: [new Date(0), new Date()], gone: [true, false] },
    ]
    for (const collection of [plain, indexed]) await collection.insertMany(others)
    await compare()
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
