import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createCollection, createExactSearch } from '../../bench/scale/collection.ts'
import { mayWait } from '../../infra/vectors/lance-indexes.ts'

const repository = path.join(import.meta.dirname, '../..')

type Run = (script: string) => Promise<Record<string, unknown>>

/** Lets `work` start scripts of the measurement, of this size, in a folder of their own. */
async function withScale(sizes: Record<string, number>, work: (run: Run) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'scale-'))
  const settings = Object.entries(sizes).map(([name, value]) => [`BENCH_SCALE_${name}`, String(value)])
  const env = { ...process.env, ...Object.fromEntries(settings), BENCH_SCALE_DIR: folder }
  try {
    await work(async (script) => {
      const file = `bench/scale/${script}.ts`
      const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: repository, env })
      return JSON.parse(stdout)
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

it('npm run bench -- scale builds, searches and compares, at a tiny size', async () => {
  const times = expect.objectContaining({ median: expect.any(Number), most: expect.any(Number) })
  await withScale({ VECTORS: 450, FILE_CHUNKS: 200, DIMENSIONS: 16, ASSISTANTS: 3, QUESTIONS: 5 }, async (run) => {
    expect(await run('build')).toMatchObject({ storing: expect.any(Number), small: expect.any(Number) })
    // So few are searched exactly.
    expect(await run('search')).toMatchObject({
      recall: 1,
      times: {
        large: times,
        small: times,
        besideSmall: times,
        besideLarge: times,
        besideGrowth: times,
        growing: times,
      },
    })
  })
})

// An index is trained by as many threads as there are cores, which a busy machine can starve for minutes.
const trains = { timeout: 900_000 }

it.runIf(process.platform === 'linux')(
  'LanceDB writes less than five times the rows that it is given',
  trains,
  async () => {
    const sizes = { VECTORS: 40_000, FILE_CHUNKS: 5000, DIMENSIONS: 64, ASSISTANTS: 1, QUESTIONS: 1 }
    await withScale(sizes, async (run) => {
      const { writtenMiB, rowsMiB } = await run('build')
      expect(rowsMiB).toBeGreaterThan(25)
      // 4.0 times was seen: added, merged, and written anew when the parts of an index were. The words of a chunk are also
      // found by their stems and by the name of its document, which makes the index of words larger than the rows.
      expect(Number(writtenMiB) / Number(rowsMiB)).toBeLessThan(5)
    })
  },
)

it('rows wait for the indexes while a file is added, but only so many of a table, and of long vectors', () => {
  const rows = 1_000_000
  expect(mayWait({ rows, unindexed: 20_000, dimensions: 256 })).toBe(true)
  expect(mayWait({ rows, unindexed: 24_000, dimensions: 256 })).toBe(false)
  expect(mayWait({ rows, unindexed: 4096, dimensions: 1536 })).toBe(false)
  expect(mayWait({ rows: 40_000, unindexed: 5000, dimensions: 256 })).toBe(false)
})

it('the collection is the same each time, and its exact search finds the nearest', () => {
  const [one, same] = [createCollection(8), createCollection(8)]
  expect(one.vectorOf(7)).toEqual(same.vectorOf(7))
  const records = one.records(0, 300)
  const exact = createExactSearch([one.vectorOf(42), one.question(3).vector], 2)
  for (const record of records) exact.show(record)
  const similarity = (vector: number[]) =>
    vector.reduce((sum, value, index) => sum + value * (one.question(3).vector[index] ?? 0), 0)
  const nearest = records.toSorted((a, b) => similarity(b.vector) - similarity(a.vector)).map(({ id }) => id)
  expect(exact.nearest()[0]?.[0]).toBe('42')
  expect(exact.nearest()[1]).toEqual(nearest.slice(0, 2))
})
