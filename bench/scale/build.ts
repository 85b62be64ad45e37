import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { secondsOf } from '../statistics.ts'
import { createCollection, createExactSearch } from './collection.ts'
import { createMemoryWatch } from './memory-watch.ts'
import { largeSpace, scaleSettings, smallSpace, storeIn } from './settings.ts'

/**
 * Stores all vectors in the folder, as ingestions do: in files, each settled at its end. Prints how long that took,
 * without the making of the vectors, and leaves the exact answers there.
 */
const folder = process.env['BENCH_SCALE_DIR'] ?? ''
const { vectors, dimensions, assistants, each, fileChunks, questions, limit } = scaleSettings()
const batch = Math.min(1000, fileChunks)
const collection = createCollection(dimensions)
const asked = Array.from({ length: questions }, (_, index) => collection.question(index).vector)
const exact = createExactSearch(asked, limit)
const store = storeIn(folder)
const memory = createMemoryWatch()
const spent = { storing: 0, settling: 0, longestSettling: 0, small: 0 }
let bytes = 0

/** What this process, and those of its children that have ended, have written. */
async function writtenMiB(): Promise<number> {
  const counted = await readFile('/proc/self/io', 'utf8').catch(() => '')
  return Number(/wchar: (\d+)/.exec(counted)?.[1] ?? Number.NaN) / 1024 / 1024
}

for (let start = 0; start < vectors; start += batch) {
  const records = collection.records(start, Math.min(batch, vectors - start), fileChunks)
  for (const record of records) {
    exact.show(record)
    bytes += record.id.length + record.fileId.length + record.text.length + dimensions * 4
  }
  spent.storing += await secondsOf(() => store.upsert(largeSpace, records, { areNew: true }))
  const stored = start + records.length
  if (stored % fileChunks !== 0 && stored < vectors) continue
  const file = records.at(-1)?.fileId ?? ''
  const seconds = await secondsOf(() => store.finalize(largeSpace, file, stored % fileChunks || fileChunks))
  spent.settling += seconds
  spent.longestSettling = Math.max(spent.longestSettling, seconds)
  if (stored % 100_000 === 0) console.error(`${stored} stored: ${JSON.stringify(spent)}`)
}
const written = await writtenMiB()
for (let index = 0; index < assistants; index++) {
  const records = collection.records(vectors + index * each, each, each)
  spent.small += await secondsOf(async () => {
    await store.upsert(smallSpace(index), records, { areNew: true })
    await store.finalize(smallSpace(index), records[0]?.fileId ?? '', each)
  })
}
await store.close()
await writeFile(join(folder, 'exact.json'), JSON.stringify(exact.nearest()))
console.log(JSON.stringify({ ...spent, writtenMiB: written, rowsMiB: bytes / 2 ** 20, mostMiB: memory.stop() }))
process.exit(0)
