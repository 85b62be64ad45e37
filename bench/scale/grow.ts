import { createCollection } from './collection.ts'
import { grownFiles, largeSpace, scaleSettings, storeIn } from './settings.ts'

/**
 * Adds files to the large assistant, as a worker does beside the process that searches; says when the first rows are
 * stored. All have the same vectors, so that making them takes no processor from the searches.
 */
const { vectors, dimensions, assistants, each, fileChunks } = scaleSettings()
const store = storeIn(process.env['BENCH_SCALE_DIR'] ?? '')
const batch = Math.min(500, fileChunks)
/** As often as an ingestion does. */
const settleEvery = 8 * batch
const made = createCollection(dimensions).records(vectors + assistants * each, fileChunks, fileChunks)

for (let file = 0; file < grownFiles; file++) {
  const fileId = `grown-${process.pid}-${file}`
  for (let start = 0; start < fileChunks; start += batch) {
    const rows = made.slice(start, start + batch)
    const records = rows.map((record) => ({ ...record, id: `${fileId}:${record.id}`, fileId }))
    await store.upsert(largeSpace, records, { areNew: true })
    if ((start + batch) % settleEvery === 0) await store.finalize(largeSpace, fileId)
    if (file + start === 0) process.send?.('growing')
  }
  await store.finalize(largeSpace, fileId, fileChunks)
}
await store.close()
process.exit(0)
