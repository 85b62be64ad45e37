import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Index, type Table } from '@lancedb/lancedb'
import type { LanceBucket } from './lance-bucket.ts'
import { createTextIndex, dimensionsOf, textIndexName, unavailable, vectorIndexName } from './lance-tables.ts'

/** Below this number of rows, an exact search is fast enough, and an index would only lose precision. */
const vectorIndexRows = 20_000
/**
 * Rows outside the text index are searched one by one: this many double the time of a search. Of a small table,
 * a tenth of the rows is merged too, as soon as no file is added any more: the frequencies of words, by which chunks are
 * compared, are those of the rows inside.
 */
const unindexedRows = 4000
const manyFragments = 50
/**
 * While a file is being embedded, a merge waits until this share of the rows is outside of the text index: a merge of a
 * large table takes seconds, in which nothing is written.
 */
const unindexedShare = 1 / 8
/** But no longer than until so many numbers of vectors are outside of the indexes, which a search compares in 10 ms. */
const unindexedNumbers = 6_000_000
/** From this size on, building takes up to hundreds of megabytes, which a separate process gives back. */
const apartRows = 4000
/** From this size on, the caller waits for it. */
const largeTableRows = 20_000

const processPath = fileURLToPath(new URL('./lance-indexes-process.ts', import.meta.url))

export interface LanceLocation {
  /** The path of a folder. */
  uri: string
  /** Instead of the folder. */
  bucket: LanceBucket | undefined
}

interface RefreshOptions {
  /** More rows will follow soon. */
  isGrowing: boolean
  /** Has the indexes built without being waited for. */
  buildSoon: (how: BuildSoon) => void
  /** Has them built in a separate process, and waits for it. */
  buildNow: () => Promise<void>
}

export interface BuildSoon {
  /** In a separate process. */
  isApart: boolean
  /** When no file has been added for a while: many small files are one merge then, not one for each. */
  isPatient: boolean
}

/**
 * Whether so many rows of a large table are outside of its text index that a search of their words, one row after the
 * other, would take longer than all the rest (5 µs for each). That is so while a large file is embedded, until the next
 * merge. Their vectors are compared nevertheless.
 */
export async function isTextFarBehind(table: Table): Promise<boolean> {
  if ((await table.countRows()) < largeTableRows) return false
  const text = await table.indexStats(textIndexName)
  return (text?.numUnindexedRows ?? 0) > 2 * unindexedRows
}

/**
 * Updates the indexes of a table where that pays. The caller waits for those of a large table only: a merge of another
 * takes up to a second, and rows outside of the text index are found too.
 */
export async function refreshIndexes(table: Table, { isGrowing, buildSoon, buildNow }: RefreshOptions): Promise<void> {
  try {
    const due = await dueWork(table)
    const merging = due.merging && !(isGrowing && mayWait(due))
    if (!due.textIndex && !merging && !due.vectorIndex) return
    if (due.rows < largeTableRows) {
      const isPatient = !due.isUrgent && !due.vectorIndex
      return due.textIndex ? await buildIndexes(table) : buildSoon({ isApart: due.rows >= apartRows, isPatient })
    }
  } catch (error) {
    if (isConflict(error)) return
    throw unavailable(error)
  }
  await buildNow()
}

/** Builds the indexes in a separate process. */
export async function buildApart({ uri, bucket }: LanceLocation, space: string): Promise<void> {
  const env = { ...process.env }
  for (const [name, value] of Object.entries(bucket?.storageOptions ?? {})) env[name.toUpperCase()] = value
  const child = fork(processPath, [bucket?.uri ?? uri, space], {
    execArgv: [],
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exit: unknown[] = await once(child, 'exit')
  const code = exit[0]
  if (code !== 0) throw unavailable(new Error(`the process that builds indexes ended with ${String(code)}`))
}

export function mayWait({
  rows,
  unindexed,
  dimensions,
}: {
  rows: number
  unindexed: number
  dimensions: number
}): boolean {
  return unindexed < rows * unindexedShare && unindexed * dimensions < unindexedNumbers
}

async function dueWork(table: Table) {
  const names = (await table.listIndices()).map((index) => index.name)
  const rows = await table.countRows()
  const text = names.includes(textIndexName) ? await table.indexStats(textIndexName) : undefined
  const dimensions = (await dimensionsOf(table)) ?? 0
  const { numFragments } = (await table.stats()).fragmentStats
  const unindexed = text?.numUnindexedRows ?? 0
  const isSmall = rows < 2 * unindexedRows
  const isUrgent = unindexed >= unindexedRows || (isSmall && unindexed * 2 > rows) || numFragments >= manyFragments
  return {
    rows,
    unindexed,
    dimensions,
    isUrgent,
    textIndex: !names.includes(textIndexName),
    merging: isUrgent || (isSmall && unindexed * 10 > rows),
    // Without a model all vectors are alike.
    vectorIndex: !names.includes(vectorIndexName) && rows >= vectorIndexRows && dimensions > 1,
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
