import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Index, type Table } from '@lancedb/lancedb'
import { createTextIndex, textIndexName, unavailable, vectorIndexName } from './lance-tables.ts'

/** Below this number of rows, an exact search is fast enough, and an index would only lose precision. */
const vectorIndexRows = 20_000
/** Rows outside the text index are searched one by one: this many double the time of a search. */
const unindexedRows = 4000
const manyFragments = 50
/**
 * While a file is being embedded, a merge waits until this share of the rows is outside of the text index: a merge of a
 * large table takes seconds, in which nothing is written.
 */
const unindexedShare = 1 / 8
/** From this size on, building takes hundreds of megabytes, which a separate process gives back. */
const largeTableRows = 20_000

const processPath = fileURLToPath(new URL('./lance-indexes-process.ts', import.meta.url))

export interface RefreshOptions {
  uri: string
  space: string
  /** More rows will follow soon. */
  isGrowing: boolean
  /** Calls `buildIndexes` without being waited for. */
  buildSoon: () => void
}

/**
 * Updates the indexes of a table where that pays; those of a large table in a separate process. The caller does not wait
 * for the merge of a small one, which takes up to a second: rows outside of the text index are found too.
 */
export async function refreshIndexes(
  table: Table,
  { uri, space, isGrowing, buildSoon }: RefreshOptions,
): Promise<void> {
  try {
    const due = await dueWork(table)
    const merging = due.merging && !(isGrowing && due.unindexed < due.rows * unindexedShare)
    if (!due.textIndex && !merging && !due.vectorIndex) return
    if (due.rows < largeTableRows) return due.textIndex ? await buildIndexes(table) : buildSoon()
  } catch (error) {
    if (isConflict(error)) return
    throw unavailable(error)
  }
  const child = fork(processPath, [uri, space], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exit: unknown[] = await once(child, 'exit')
  const code = exit[0]
  if (code !== 0) throw unavailable(new Error(`the process that builds indexes ended with ${String(code)}`))
}

async function dueWork(table: Table) {
  const names = (await table.listIndices()).map((index) => index.name)
  const rows = await table.countRows()
  const text = names.includes(textIndexName) ? await table.indexStats(textIndexName) : undefined
  const { numFragments } = (await table.stats()).fragmentStats
  const unindexed = text?.numUnindexedRows ?? 0
  return {
    rows,
    unindexed,
    textIndex: !names.includes(textIndexName),
    merging: unindexed >= unindexedRows || numFragments >= manyFragments,
    vectorIndex: !names.includes(vectorIndexName) && rows >= vectorIndexRows,
  }
}

/** Work that another process may be doing at the same moment: the second one leaves it to the first. */
export async function buildIndexes(table: Table): Promise<void> {
  try {
    const due = await dueWork(table)
    if (due.textIndex) await createTextIndex(table)
    // Versions that a reader may still be using are kept for a while.
    if (due.merging) await table.optimize({ cleanupOlderThan: new Date(Date.now() - 10 * 60_000) })
    if (!due.vectorIndex) return
    // RaBitQ (Gao and Long 2024): built in seconds where product quantisation took minutes.
    await table.createIndex('vector', {
      config: Index.ivfRq({ distanceType: 'cosine', sampleRate: 64, maxIterations: 10 }),
      name: vectorIndexName,
    })
    await table.createIndex('id', { config: Index.btree(), name: 'id_idx' })
  } catch (error) {
    if (!isConflict(error)) throw error
  }
}

export function isConflict(error: unknown): boolean {
  return error instanceof Error && /conflict|concurrent|retry|preempted/i.test(error.message)
}
