import { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { startWorkerProcess } from '../support/processes.ts'
import { v1Client } from './v1-client.ts'

describe('a worker that is killed in the middle of a batch of files', () => {
  const service = useModelService({ worker: false })

  it('is followed by another one, which completes the batch without doubling anything', async () => {
    const { client } = await v1Client(service)
    const ids = await Promise.all(
      Array.from({ length: 6 }, async (_, place) => {
        const file = await toFile(Buffer.from(`The number of the box is ${place}.`), `${place}.txt`)
        return (await client.files.create({ file, purpose: 'assistants' })).id
      }),
    )
    const { id: store } = await client.vectorStores.create({})
    const gate = Promise.withResolvers<void>()
    service.model.embeddings.waitFor(gate.promise, 0, (text) => text.includes('box is 3'))
    const first = await startWorkerProcess(service.env)
    const batch = await client.vectorStores.fileBatches.create(store, { file_ids: ids })
    const read = () => client.vectorStores.fileBatches.retrieve(batch.id, { vector_store_id: store })
    await eventually('half of the batch', async () => (await read()).file_counts.completed === 3, 60_000)
    await first.kill()
    expect((await read()).file_counts).toMatchObject({ completed: 3, in_progress: 3, total: 6 })
    gate.resolve()
    const second = await startWorkerProcess(service.env)
    await eventually('the end of the batch', async () => (await read()).status === 'completed', 120_000)
    await second.stop()
    expect((await read()).file_counts).toMatchObject({ completed: 6, failed: 0, total: 6 })
    expect(await service.api.infra.knowledge.vectors.count(store)).toBe(6)
    const found = await client.vectorStores.search(store, { query: 'the number of the box', max_num_results: 50 })
    expect(found.data.map(({ file_id: id }) => id).toSorted()).toEqual(ids.toSorted())
  }, 240_000)
})
