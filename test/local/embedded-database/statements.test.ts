import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, startDatabase } from './support.ts'

/** The launcher remembers the options of collections; nobody may notice. */
describe('a statement to the database of npm start', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await startDatabase()
  })
  afterAll(() => database.close())

  it('is checked by the rules that its collection has now, whichever connection changed them', async () => {
    const [one, other] = [database.connect(), database.connect()]
    await one.createCollection('checked', { validator: { owner: { $exists: true } } })
    const insertByBoth = (_id: number) =>
      Promise.allSettled(
        [one, other].map((db, index) =>
          db.collection<{ _id: string }>('checked').insertOne({ _id: `${_id}.${index}` }),
        ),
      ).then((outcomes) => outcomes.map(({ status }) => status))

    expect(await insertByBoth(1)).toEqual(['rejected', 'rejected'])
    await other.command({ collMod: 'checked', validator: {} })
    expect(await insertByBoth(2)).toEqual(['fulfilled', 'fulfilled'])
    await one.command({ collMod: 'checked', validator: { owner: { $exists: true } } })
    expect(await insertByBoth(3)).toEqual(['rejected', 'rejected'])
    await other.dropCollection('checked')
    expect(await insertByBoth(4)).toEqual(['fulfilled', 'fulfilled'])
    await one.dropDatabase()
    await other.createCollection('checked', { validator: { owner: { $exists: true } } })
    expect(await insertByBoth(5)).toEqual(['rejected', 'rejected'])
  })

  it('finds no rules of a collection that an aborted transaction had made', async () => {
    const db = database.connect()
    const made = db.collection<{ _id: number }>('made_in_vain')
    await db.client.withSession(async (session) => {
      session.startTransaction()
      await made.insertOne({ _id: 1 }, { session })
      expect(await made.countDocuments({}, { session })).toBe(1)
      await session.abortTransaction()
    })
    expect(await made.countDocuments()).toBe(0)
    await db.createCollection('made_in_vain', { validator: { owner: { $exists: true } } }).catch(async () => {
      // MongoDB itself keeps an empty collection.
      await db.command({ collMod: 'made_in_vain', validator: { owner: { $exists: true } } })
    })
    await expect(made.insertOne({ _id: 2 })).rejects.toThrow('validation')
  })
})
