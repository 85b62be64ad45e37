import { createLanceStore } from '../../infra/vectors/lancedb.ts'
import { embedByHashing } from '../../local/demo-model/embed.ts'

/** Writes batches of eight chunks of one file, each twice, as a process of its own: `uri assistant file batches`. */
const [uri = '', assistantId = '', fileId = '', batches = '0'] = process.argv.slice(2)
const store = createLanceStore(uri)
for (let batch = 0; batch < Number(batches); batch++) {
  const records = Array.from({ length: 8 }, (_, index) => {
    const position = batch * 8 + index
    const text = `line ${position} of ${fileId}`
    return { id: `${fileId}:${position}`, fileId, position, text, vector: embedByHashing(text, 64) }
  })
  await store.upsert(assistantId, records)
  if (batch % 5 === 0) await store.upsert(assistantId, records)
}
await store.finalize(assistantId, fileId)
await store.close()
