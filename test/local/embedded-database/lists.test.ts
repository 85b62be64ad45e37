import type { mongo } from 'mongoose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, startDatabase } from './support.ts'

interface Listed {
  _id: string
  owner: string
  at: Date | string | null
  gone?: boolean
}

const options = { ordered: false } as const

/** The launcher keeps how many entries the parts of a long list have; nobody may notice. */
describe('long lists of the database of npm start', () => {
  let database: TestDatabase
  let db: mongo.Db
  beforeAll(async () => {
    database = await startDatabase()
    db = database.connect()
  })
  afterAll(() => database.close())

  const id = (index: number) => String(index).padStart(6, '0')
  /** Each date several times, some of them hundreds of times. */
  const dateOf = (index: number) => new Date(Date.UTC(2026, 0, 1) + (index % 10 === 0 ? 7 : index >> 1))
  const listed = (index: number, more: Partial<Listed> = {}): Listed => ({
    _id: id(index),
    owner: 'a',
    at: dateOf(index),
    ...(index % 9 === 0 ? { gone: true } : index % 7 === 0 ? { gone: false } : {}),
    ...more,
  })

  /** A collection with its records in memory, too. */
  async function newList(name: string, count: number) {
    const records = db.collection<Listed>(name)
    await records.createIndex({ owner: 1, at: -1, _id: -1, gone: 1 })
    await records.createIndex({ owner: 1, at: 1 })
    const all = new Map<string, Listed>()
    const insert = async (more: Listed[], session?: mongo.ClientSession) => {
      await records.insertMany(more, { ...options, session })
      for (const one of more) all.set(one._id, one)
    }
    await insert(Array.from({ length: count }, (_, index) => listed(index)))
    await insert(Array.from({ length: 30 }, (_, index) => listed(900_000 + index, { owner: 'ab' })))
    return { records, all, insert }
  }

  const compare = (a: Listed, b: Listed) => Number(a.at) - Number(b.at) || (a._id < b._id ? -1 : 1)

  /** Counts and pages are those of these records. */
  async function expectList(
    { records, all }: { records: mongo.Collection<Listed>; all: Map<string, Listed> },
    session?: mongo.ClientSession,
  ): Promise<void> {
    const own = [...all.values()].filter(({ owner }) => owner === 'a').toSorted(compare)
    const kinds = [
      { filter: { owner: 'a', gone: { $ne: true } }, sort: { at: -1, _id: -1 } as const, descends: true },
      { filter: { owner: 'a' }, sort: { at: -1, _id: -1 } as const, descends: true },
      { filter: { owner: 'a' }, sort: { at: 1, _id: 1 } as const, descends: false },
      { filter: { owner: 'a', gone: true }, sort: { at: 1, _id: -1 } as const, descends: false },
    ]
    for (const { filter, sort, descends } of kinds) {
      const wanted = own.filter(({ gone }) =>
        filter.gone === undefined ? true : filter.gone === true ? gone === true : gone !== true,
      )
      if (sort._id !== sort.at) wanted.sort((a, b) => Number(a.at) - Number(b.at) || (a._id < b._id ? 1 : -1))
      const ids = (descends ? wanted.toReversed() : wanted).map(({ _id }) => _id)
      expect(await records.countDocuments(filter, { session })).toBe(ids.length)
      const middle = Math.floor(ids.length / 2)
      for (const skip of [0, 50, 500, middle, Math.max(0, ids.length - 3), ids.length + 9]) {
        const page = await records.find(filter, { session }).sort(sort).skip(skip).limit(20).toArray()
        expect(page.map(({ _id }) => _id)).toEqual(ids.slice(skip, skip + 20))
      }
    }
  }

  it('counts and pages exactly between writes of every kind', async () => {
    const list = await newList('written', 3_000)
    const { records, all } = list
    await expectList(list)
    await expectList(list)
    let next = 3_000
    for (let round = 0; round < 4; round++) {
      // New ones at the end, at the beginning, and in between; one of them alone.
      await list.insert([listed(next++)])
      await list.insert(
        Array.from({ length: 150 }, (_, index) =>
          listed(next++, { at: dateOf(index % 3 === 0 ? -index : index * 17) }),
        ),
      )
      for (let index = round; index < 3_000; index += 97) {
        const _id = id(index)
        const before = all.get(_id)
        if (before === undefined) continue
        // The newest change first, as a thread that is used.
        const at = new Date(Date.UTC(2026, 1, 1) + next++)
        if (index % 3 === 0) await records.updateOne({ _id }, { $set: { at } })
        if (index % 3 === 0) all.set(_id, { ...before, at })
        if (index % 3 === 1) await records.updateOne({ _id }, { $set: { gone: true } })
        if (index % 3 === 1) all.set(_id, { ...before, gone: true })
        if (index % 3 === 2) await records.deleteOne({ _id })
        if (index % 3 === 2) all.delete(_id)
      }
      await expectList(list)
    }
    // Whole parts of it.
    const range = { _id: { $gte: id(500), $lt: id(2_200) } }
    await records.deleteMany(range)
    for (const _id of all.keys()) if (_id >= id(500) && _id < id(2_200)) all.delete(_id)
    await expectList(list)
    await records.updateMany({ owner: 'ab' }, { $set: { owner: 'a' } })
    for (const one of all.values()) one.owner = 'a'
    await expectList(list)
    await records.deleteMany({ owner: 'a' })
    all.clear()
    await expectList(list)
    await list.insert(Array.from({ length: 1_500 }, (_, index) => listed(index)))
    await expectList(list)
  })

  it('keeps pages right when not all of the list are dates', async () => {
    const list = await newList('mixed', 1_600)
    await expectList(list)
    const odd = Array.from({ length: 120 }, (_, index): Listed => ({
      ...listed(500_000 + index),
      at: index % 2 ? null : `text ${index}`,
    }))
    await list.records.insertMany(odd)
    const filter = { owner: 'a' }
    expect(await list.records.countDocuments(filter)).toBe(1_720)
    for (const direction of [1, -1] as const) {
      const sort = { at: direction, _id: direction }
      const sorted = (await list.records.find(filter).sort(sort).toArray()).map(({ _id }) => _id)
      expect(sorted).toHaveLength(1_720)
      for (const skip of [10, 55, 61, 800, 1_590, 1_650, 1_719, 1_720])
        expect(
          (await list.records.find(filter).sort(sort).skip(skip).limit(20).toArray()).map(({ _id }) => _id),
        ).toEqual(sorted.slice(skip, skip + 20))
    }
  })

  it('shows a transaction its own list, and others the list without it', async () => {
    const list = await newList('in transactions', 1_200)
    const { records, all } = list
    for (const isKeptBefore of [true, false]) {
      for (const ends of ['commits', 'aborts']) {
        if (isKeptBefore) await expectList(list)
        await db.client.withSession(async (session) => {
          session.startTransaction()
          const inside = { records, all: new Map(all) }
          const some = Array.from({ length: 40 }, (_, index) =>
            listed(700_000 + index, {
              owner: 'a',
              at: dateOf(index * 40),
              _id: `${ends} ${String(isKeptBefore)} ${index}`,
            }),
          )
          await records.insertMany(some, { session })
          for (const one of some) inside.all.set(one._id, one)
          const [gone] = inside.all.keys()
          await records.deleteOne({ _id: String(gone) }, { session })
          inside.all.delete(String(gone))
          await expectList(inside, session)
          await expectList(list)
          // Another's write meanwhile, which the transaction does not see.
          await list.insert([listed(800_000 + all.size)])
          await expectList(inside, session)
          await expectList(list)
          if (ends === 'aborts') return session.abortTransaction()
          await session.commitTransaction()
          for (const one of some) all.set(one._id, one)
          all.delete(String(gone))
        })
        await expectList(list)
        if (!isKeptBefore) await records.createIndex({ gone: 1 })
      }
    }
  })

  it('counts what is acknowledged, beside writers', async () => {
    const list = await newList('beside writers', 2_500)
    const { records, all } = list
    const filter = { owner: 'a', gone: { $ne: true } }
    const present = () => [...all.values()].filter(({ owner, gone }) => owner === 'a' && gone !== true).length
    let begun = present()
    let acknowledged = begun
    let next = 10_000
    const write = async (turn: number) => {
      const one = listed(next++, { at: dateOf((turn * 733) % 9_000), gone: false })
      begun += 1
      if (turn % 3 === 0)
        await db.client.withSession((session) =>
          session.withTransaction(() => records.insertOne(one, { session }).then(() => undefined)),
        )
      else await records.insertOne(one)
      all.set(one._id, one)
      acknowledged += 1
    }
    const aborted = async (turn: number) => {
      await db.client.withSession(async (session) => {
        session.startTransaction()
        await records.insertOne(listed(next++, { at: dateOf(turn) }), { session })
        await session.abortTransaction()
      })
    }
    let isOver = false
    const writer = async (slot: number) => {
      for (let turn = slot; turn < 400; turn += 4) await (turn % 20 === 1 ? aborted(turn) : write(turn))
    }
    const reader = async () => {
      for (let turn = 0; !isOver; turn++) {
        const least = acknowledged
        const count = await records.countDocuments(filter)
        expect(count).toBeGreaterThanOrEqual(least)
        expect(count).toBeLessThanOrEqual(begun)
        const page = records
          .find(filter)
          .sort({ at: -1, _id: -1 })
          .skip(500 + turn)
          .limit(20)
        expect(new Set((await page.toArray()).map(({ _id }) => _id)).size).toBe(20)
      }
    }
    const reading = Promise.all([reader(), reader()])
    await Promise.all([writer(0), writer(1), writer(2), writer(3)])
    isOver = true
    await reading
    await expectList(list)
  })

  it('knows nothing of a list after its collection or index is gone', async () => {
    const list = await newList('gone', 1_500)
    const { records, all } = list
    await expectList(list)
    await records.dropIndexes()
    await records.deleteMany({ _id: { $lt: id(100) } })
    for (const _id of all.keys()) if (_id < id(100)) all.delete(_id)
    await records.createIndex({ owner: 1, at: -1, _id: -1, gone: 1 })
    await expectList(list)
    await records.rename('renamed')
    await expectList({ records: db.collection<Listed>('renamed'), all })
    await expectList({ records, all: new Map() })
    await db.dropCollection('renamed')
    await expectList({ records: db.collection<Listed>('renamed'), all: new Map() })
    await expectList(await newList('renamed', 1_200))
  })
})
