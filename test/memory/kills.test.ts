import { describe, expect, it } from 'vitest'
import { memorySpaces } from '../../domain/memory/memory-scope.ts'
import { chunkId } from '../../domain/records/chunk-group.ts'
import { countVectors } from '../../services/knowledge/vector-spaces.ts'
import { conversation } from '../runs/support.ts'
import { useModelService } from '../support/model-service.ts'
import { startWorkerProcess } from '../support/processes.ts'
import { type Talk, call, factsFor, factsIn, told, withMemory } from './support.ts'

describe('a process that dies between a fact and its vector', () => {
  const service = useModelService({ worker: false, env: { EMBEDDING_DIMENSIONS: '256' } })
  const memories = () => service.collections.memories
  const vectorsOf = ({ assistantId }: Talk) =>
    countVectors(service.api.infra.knowledge.vectors, memorySpaces({ kind: 'assistant', id: assistantId }))
  const later = () => Date.now() + 60_000
  const sweep = () => service.api.platform.core.memory.sweep(later)

  it('leaves one fact, which gets its vector when the call is executed again, when it is searched, or by a worker', async () => {
    let worker = await startWorkerProcess(service.env)
    const talk = await conversation(service, withMemory())
    const own = { user_id: talk.client.userId }
    const stored = () => memories().find(own).lean()
    const text = 'The user plays chess on Fridays.'
    service.model.embeddings.waitFor(new Promise(() => {}))
    service.model.reply(call({ operation: 'save', text }))
    service.model.reply({ text: 'Done.' })
    const run = await talk.start('Remember that I play chess on Fridays')
    await expect.poll(async () => (await stored()).length, { timeout: 20_000 }).toBe(1)
    expect((await stored())[0]?.embedded_with).toBeUndefined()
    await worker.kill()
    service.model.embeddings.waitFor(Promise.resolve())
    worker = await startWorkerProcess(service.env)
    const status = async () => (await talk.client.get(`/runs/${run.run_id}`)).status
    await expect.poll(status, { timeout: 60_000 }).toBe('success')
    const [fact] = await stored()
    expect(await stored()).toMatchObject([{ text, embedded_with: expect.any(String) }])
    expect(await vectorsOf(talk)).toBe(1)
    const result = (await talk.messages()).find(({ type }) => type === 'ToolMessage')
    expect(JSON.parse(result.data.content)).toEqual({ saved: fact?._id })

    // Among more facts than a run is given, it is found while it has no vector, and gets one.
    const noise = Array.from({ length: 12 }, (_, place) => `Shelf ${place} holds grey boxes.`)
    for (const other of noise) await talk.client.post('/memory/', { text: other, assistant_id: talk.assistantId })
    const lose = async () => {
      for (const space of await service.api.infra.knowledge.vectors.spacesOf(
        memorySpaces({ kind: 'assistant', id: talk.assistantId }),
      ))
        await service.api.infra.knowledge.vectors.deleteFile(space, fact?._id ?? '')
      // As young as a fact is that a request has just stored: the worker leaves it to the request.
      const change = { $unset: { embedded_with: 1 }, $set: { updated_at: new Date() } }
      await memories().updateOne({ _id: fact?._id ?? '' }, change)
    }
    await lose()
    // Also while the embedding server is away: by its words.
    service.model.embeddings.fail({ status: 503, times: 2 })
    expect((await factsFor(service, talk, 'Who plays chess?'))[0]).toBe(text)
    expect(await vectorsOf(talk)).toBe(noise.length)
    service.model.embeddings.waitFor(Promise.resolve())
    const [found = ''] = await told(service, talk, { operation: 'find', query: 'Who plays chess?' })
    expect(factsIn(found)[0]?.text).toBe(text)
    expect(await vectorsOf(talk)).toBe(noise.length + 1)

    await lose()
    await sweep()
    expect(await vectorsOf(talk)).toBe(noise.length + 1)
    expect((await stored()).every(({ embedded_with: model }) => model !== undefined)).toBe(true)

    // A deletion that was cut off is completed.
    await memories().updateOne({ _id: fact?._id ?? '' }, { $set: { deleting: true } })
    expect((await talk.client.get('/memory/')).length).toBe(noise.length)
    await sweep()
    expect(await memories().countDocuments(own)).toBe(noise.length)
    expect(await vectorsOf(talk)).toBe(noise.length)
    await worker.stop()
  }, 180_000)

  it('is told apart from a change of the model, after which all facts are embedded anew', async () => {
    const talk = await conversation(service, withMemory())
    const { client, assistantId } = talk
    const { memory_id: id } = await client.post('/memory/', { text: 'Tea at four.', assistant_id: assistantId })
    const owner = memorySpaces({ kind: 'assistant', id: assistantId })
    const { vectors } = service.api.infra.knowledge
    // What facts of another model look like.
    const older = `${owner}:7`
    const vector = Array.from({ length: 16 }, () => 0.5)
    await vectors.upsert(older, [{ id: chunkId(id, 0), fileId: id, position: 0, text: 'Tea at four.', vector }])
    await memories().updateOne({ _id: id }, { $set: { embedded_with: 'another model' } })
    await sweep()
    expect(await vectors.count(older)).toBe(0)
    expect(await vectorsOf(talk)).toBe(1)
    expect(await vectors.spacesOf(owner)).not.toContain(older)

    // The sweep of orphans knows the spaces of facts: it keeps this one, and removes what belongs to nobody.
    const { orphans } = service.api.platform.deletion
    const stray = memorySpaces({ kind: 'user', id: 'nobody' })
    const record = { id: 'x:0', fileId: 'x', position: 0, text: 'x', vector }
    for (const space of [`${stray}:7`, `${owner}:8`]) await vectors.upsert(space, [record])
    await orphans.remove()
    expect(await vectors.count(`${stray}:7`)).toBe(0)
    expect(await countVectors(vectors, owner)).toBe(1)
  })
})
