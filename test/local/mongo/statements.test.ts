import { once } from 'node:events'
import { connect } from 'node:net'
import { mongo } from 'mongoose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, startDatabase } from './support.ts'

/** What every statement meets: its message, and what the server remembers of its collection. */
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

  it('is understood in whatever pieces it arrives, and each one is answered', async () => {
    const { hostname, port } = new URL(database.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.setNoDelay(true)
    const answers = answersOf(socket)
    const large = 'x'.repeat(100_000)
    const messages = ['a', large, 'b', 'c', large].map((text, index) =>
      message(index + 1, { insert: 'pieces', documents: [{ _id: index, text }], $db: 'pieces' }),
    )
    // Several at once, then one that is cut within its header and within its body.
    socket.write(Buffer.concat(messages.slice(0, 4)))
    const [last = Buffer.alloc(0)] = messages.slice(4)
    for (const [from, to] of [
      [0, 7],
      [7, 16],
      [16, 9_000],
      [9_000, undefined],
    ]) {
      await new Promise((resolve) => socket.write(last.subarray(from, to), resolve))
    }
    const seen: unknown[] = []
    for await (const answer of answers) if (seen.push(answer) === messages.length) break
    expect(seen).toEqual(messages.map((_, index) => ({ to: index + 1, n: 1, ok: 1 })))
    const stored = await database.connect().client.db('pieces').collection('pieces').find().sort({ _id: 1 }).toArray()
    expect(stored.map(({ text }) => String(text).length)).toEqual([1, 100_000, 1, 1, 100_000])
    socket.destroy()
  })
})

const opMsg = 2013

/** A command as MongoDB's wire protocol has it (`OP_MSG`). */
function message(id: number, command: object): Buffer {
  const body = mongo.BSON.serialize(command)
  const buffer = Buffer.alloc(21 + body.length)
  for (const [index, value] of [buffer.length, id, 0, opMsg, 0].entries()) buffer.writeInt32LE(value, index * 4)
  buffer.set(body, 21)
  return buffer
}

async function* answersOf(socket: AsyncIterable<Buffer>) {
  let rest = Buffer.alloc(0)
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      const answer = rest.subarray(0, rest.readInt32LE(0))
      rest = rest.subarray(answer.length)
      const { n, ok } = mongo.BSON.deserialize(answer.subarray(21))
      yield { to: answer.readInt32LE(8), n, ok }
    }
  }
}
