import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { comparedMatches } from '../../domain/search/named-documents.ts'
import { createLanceStore } from '../../infra/vectors/lancedb.ts'
import type { BenchContext } from '../environment.ts'
import { random, words } from '../scale/collection.ts'
import { quantile, table } from '../statistics.ts'

const chunks = 100_000
const batch = 2000
const dimensions = 1536

/** Hybrid search among 100,000 chunks of one assistant, in the service's own store, without the database. */
export async function benchSearch(context: BenchContext): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-search-'))
  const store = createLanceStore(folder)
  try {
    const startedAt = performance.now()
    for (let from = 0; from < chunks; from += batch) {
      const records = Array.from({ length: batch }, (_, index) => {
        const position = from + index
        return { id: `f:${position}`, fileId: 'f', position, text: words(position, 60), vector: vectorOf(position) }
      })
      await store.upsert('bench', records)
    }
    const stored = performance.now() - startedAt
    await store.finalize('bench', 'f')
    const settled = performance.now() - startedAt - stored
    const times: number[] = []
    let right = 0
    for (let query = 0; query < 110; query++) {
      const wanted = (query * 7919) % chunks
      const askedAt = performance.now()
      const asked = { vector: vectorOf(wanted, 0.3), text: words(wanted, 60), limit: comparedMatches }
      const found = await store.search('bench', asked)
      if (query >= 10) times.push(performance.now() - askedAt)
      if (found.slice(0, 5).some(({ id }) => id === `f:${wanted}`)) right++
    }
    context.log('\n### Search among 100,000 chunks of 1536 dimensions\n')
    context.log(
      table(
        ['median', '95 %', 'the right one among five', 'storing', 'indexes'],
        [
          [
            `${quantile(times, 0.5).toFixed(1)} ms`,
            `${quantile(times, 0.95).toFixed(1)} ms`,
            `${((100 * right) / 110).toFixed(0)} %`,
            `${(stored / 1000).toFixed(0)} s`,
            `${(settled / 1000).toFixed(0)} s`,
          ],
        ],
      ),
    )
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** A vector near one of 300 centres, as the texts of a collection lie near its subjects; `noise` moves it. */
function vectorOf(seed: number, noise = 0): number[] {
  const centre = random(seed % 300)
  const own = random(seed + 1000)
  const other = random(seed + 500_000)
  const values = Array.from({ length: dimensions }, () => {
    return centre() - 0.5 + 0.5 * (own() - 0.5) + noise * (other() - 0.5)
  })
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}
