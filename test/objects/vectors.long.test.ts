import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLanceTables } from '../../infra/vectors/lance-tables.ts'
import { createLanceStore } from '../../infra/vectors/lancedb.ts'
import { inForm } from '../support/long-form.ts'
import { startTestObjectStore } from '../support/object-store.ts'
import { plainEnv } from '../support/plain-env.ts'

const rounds = inForm({ long: 60, short: 10 })
const [files, rows] = [3, 10]

describe('vectors in a bucket', () => {
  let server: Awaited<ReturnType<typeof startTestObjectStore>>
  let writers: Awaited<ReturnType<typeof startWriter>>[] = []
  beforeAll(async () => {
    server = await startTestObjectStore()
    const env = { ...plainEnv(), ...server.envOf('plain') }
    writers = await Promise.all(['a', 'b', 'c'].map((name) => startWriter(server.urlOf('plain'), name, env)))
  })
  afterAll(async () => {
    for (const writer of writers) await writer.close()
    await server.close()
  })

  it('are all kept when three processes create the same tables at once', async () => {
    const store = createLanceStore('', server.lanceBucketOf('plain'))
    for (let round = 0; round < rounds; round++) {
      const space = `space-${round}`
      const stored = await Promise.all(writers.map((writer) => writer.write({ space, files, rows })))
      expect(stored).toEqual(writers.map(() => files * rows))
      expect(await store.count(space)).toBe(writers.length * files * rows)
    }
    const spaces = await store.listSpaces()
    expect(spaces).toHaveLength(rounds)
    await store.deleteFile('space-0', 'a-0')
    expect(await store.count('space-0', 'a-0')).toBe(0)
    const found = await store.search('space-1', { text: 'row 3 of a lighthouse', vector: undefined, limit: 5 })
    expect(found).toHaveLength(5)
    for (const space of spaces) await store.deleteSpace(space)
    await store.close()
    // Nothing is left of the tables, also not of those that lost the race.
    expect(await Array.fromAsync(server.storeOf('plain').everything(''))).toEqual([])
  }, 300_000)

  it('are stored and deleted where a creator was killed before its table was visible', async () => {
    const bucket = server.lanceBucketOf('plain')
    const store = createLanceStore('', bucket)
    for (const space of ['stored', 'deleted'])
      await bucket?.objects.create(`a-${space}.lance/data/left.lance`, Buffer.of(1))
    expect(await store.count('stored')).toBe(0)
    expect(await writers[0]?.write({ space: 'stored', files, rows })).toBe(files * rows)
    expect(await store.count('stored')).toBe(files * rows)
    expect((await store.listSpaces()).toSorted()).toEqual(['deleted', 'stored'])
    for (const space of ['stored', 'deleted']) await store.deleteSpace(space)
    await store.close()
    expect(await Array.fromAsync(server.storeOf('plain').everything(''))).toEqual([])
  })

  it('get their indexes from a process of their own when they are many', async () => {
    const bucket = server.lanceBucketOf('versioned')
    const store = createLanceStore('', bucket)
    for (let start = 0; start < 21_000; start += 3000)
      await store.upsert(
        'many',
        Array.from({ length: 3000 }, (_, row) => recordOf(start + row)),
        { areNew: true },
      )
    await store.finalize('many', 'file', 21_000)
    const tables = createLanceTables('', { bucket })
    const indexes = await tables.use('many', async (table) => (await table.listIndices()).map(({ name }) => name))
    expect(indexes).toContain('vector_idx')
    const [found] = await store.search('many', { text: 'row20999', vector: recordOf(20_999).vector, limit: 1 })
    expect(found?.id).toBe('file:20999')
    await store.deleteSpace('many')
    await Promise.all([store.close(), tables.close()])
    // Also no old version of an object.
    expect(await Array.fromAsync(server.storeOf('versioned').everything(''))).toEqual([])
  })
})

/** Roots have no common period, so that no two vectors are nearly the same: an approximate search would mix them up. */
function recordOf(position: number) {
  const vector = Array.from({ length: 16 }, (_, index) => Math.sin(position * Math.sqrt(index + 1)))
  return { id: `file:${position}`, fileId: 'file', position, text: `row${position}`, vector }
}

/** See `test/support/vector-writer.ts`. */
async function startWriter(url: string, name: string, env: Record<string, string>) {
  const script = path.join(import.meta.dirname, '../support/vector-writer.ts')
  const child = spawn(process.execPath, [script, url, name], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  return {
    async write(order: { space: string; files: number; rows: number }): Promise<number> {
      child.stdin.write(`${JSON.stringify(order)}\n`)
      return Number((await lines.next()).value)
    },
    async close() {
      const exited = once(child, 'exit')
      child.stdin.end()
      await exited
    },
  }
}
