import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processOf } from '../processes.ts'
import { createCollection, createExactSearch } from './collection.ts'
import { largeSpace, scaleSettings, smallSpace, storeIn } from './settings.ts'

/**
 * Stores all vectors in the folder, as an ingestion does: in files of 10,000 chunks, each settled at
 * its end. Prints how long that took, without the making of the vectors, and leaves the exact answers there.
 */
const folder = process.env['BENCH_SCALE_DIR'] ?? ''
const { vectors, dimensions, assistants, each, questions, limit } = scaleSettings()
const fileChunks = 10_000
const batch = 1000
const collection = createCollection(dimensions)
const exact = createExactSearch(
  Array.from({ length: questions }, (_, index) => collection.question(index).vector),
  limit,
)
const store = storeIn(folder)
const memory = watchMemory()
const spent = { storing: 0, settling: 0, lastFile: 0, small: 0 }

async function timed(part: keyof typeof spent, work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  const seconds = (performance.now() - startedAt) / 1000
  spent[part] += seconds
  return seconds
}

for (let start = 0; start < vectors; start += batch) {
  const records = collection.records(start, Math.min(batch, vectors - start), fileChunks)
  for (const record of records) exact.show(record)
  await timed('storing', () => store.upsert(largeSpace, records, { areNew: true }))
  const stored = start + records.length
  if (stored % fileChunks !== 0 && stored < vectors) continue
  const file = records.at(-1)?.fileId ?? ''
  const ofFile = stored % fileChunks || fileChunks
  spent.lastFile = await timed('settling', () => store.settle(largeSpace, file, ofFile))
  if (stored % 100_000 === 0) console.error(`${stored} stored: ${JSON.stringify(spent)}`)
}
for (let index = 0; index < assistants; index++) {
  const records = collection.records(vectors + index * each, each, each)
  const space = smallSpace(index)
  await timed('small', async () => {
    await store.upsert(space, records, { areNew: true })
    await store.settle(space, records[0]?.fileId ?? '', each)
  })
}
await store.close()
await writeFile(join(folder, 'exact.json'), JSON.stringify(exact.nearest()))
console.log(JSON.stringify({ ...spent, mostMiB: memory.stop() }))
process.exit(0)

/** The most resident memory of this process and of those that it starts, in MiB. */
function watchMemory() {
  let most = 0
  const timer = setInterval(() => void sample().catch(() => undefined), 250)
  async function sample() {
    const children = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').catch(() => '')
    const pids = [process.pid, ...children.split(' ').filter(Boolean).map(Number)]
    const sizes = await Promise.all(
      pids.map((pid) =>
        processOf(pid)
          .memoryMiB()
          .catch(() => 0),
      ),
    )
    most = Math.max(
      most,
      sizes.reduce((sum, size) => sum + size, 0),
    )
  }
  return {
    stop(): number {
      clearInterval(timer)
      return most
    },
  }
}
