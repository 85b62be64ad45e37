import { once } from 'node:events'
import { connect } from 'node:net'
import path from 'node:path'
import type { mongo } from 'mongoose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { prepareMongo } from '../../../local/services/mongo/index.ts'
import { freePort } from '../../../local/services/ports.ts'
import { type TestDatabase, startDatabase } from './support.ts'

const { value: server } = await prepareMongo(() => undefined)

/** Counted are calls of SecantusDB's own functions, which a repair replaces or saves (`counting/sitecustomize.py`). */
describe.runIf(server.kind === 'secantusdb')('what a statement of the embedded database does', () => {
  let database: TestDatabase
  let records: mongo.Collection<{ _id: number; owner: string }>
  let port = 0
  beforeAll(async () => {
    port = await freePort()
    vi.stubEnv('COUNTS_PORT', String(port))
    vi.stubEnv('PYTHONPATH', path.join(import.meta.dirname, 'counting'))
    database = await startDatabase()
    records = database.connect().collection('records')
    await records.createIndex({ owner: 1 })
    await records.insertMany(Array.from({ length: 2_000 }, (_, index) => ({ _id: index, owner: `o${index}` })))
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await database.close()
  })

  async function counts(): Promise<Record<string, number>> {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (bytes) => (text += bytes.toString()))
    await once(socket, 'end')
    const all: unknown = JSON.parse(text)
    return Object.fromEntries(Object.entries(all ?? {}).map(([name, count]) => [name, Number(count)]))
  }

  /** How often this work of a hundred statements calls a function. */
  async function calls(name: string, statement: (turn: number) => Promise<unknown>): Promise<number> {
    const before = await counts()
    for (let turn = 0; turn < 100; turn++) await statement(turn)
    const after = await counts()
    return (after[name] ?? 0) - (before[name] ?? 0)
  }

  let next = 10_000
  const insert = () => records.insertOne({ _id: next++, owner: 'new' })
  const find = (turn: number) => records.findOne({ _id: turn })

  it('parses no format of a key', async () => {
    expect(await calls('pack', insert)).toBe(0)
    expect(await calls('unpack', find)).toBe(0)
  })

  it('reads the indexes of its collection once at most, however many records it inserts', async () => {
    expect(await calls('_iter_indexes', insert)).toBeLessThanOrEqual(100)
    const many = (turn: number) =>
      records.insertMany(Array.from({ length: 10 }, (_, index) => ({ _id: -turn * 10 - index - 1, owner: 'many' })))
    expect(await calls('_iter_indexes', many)).toBeLessThanOrEqual(100)
  })

  it('does not read the options of its collection and the profile of its database again', async () => {
    expect(await calls('get_collection_options', insert)).toBe(0)
    expect(await calls('get_profile', find)).toBe(0)
  })

  it('does not look through all sessions', async () => {
    expect(await calls('_prune_locked', find)).toBeLessThanOrEqual(1)
  })

  it('does not wait for the lock of the storage when it ends', async () => {
    expect(await calls('release_thread_snapshot', find)).toBe(0)
  })

  it('needs no other record before the server has started again', async () => {
    await database.kill()
    await database.restart()
    const { cursor_moves: moves = 0 } = await counts()
    expect(moves).toBeGreaterThan(0)
    expect(moves).toBeLessThan(500)
    expect(await records.countDocuments({ owner: 'o7' })).toBe(1)
  })
})
