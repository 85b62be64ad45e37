import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import { wordsOnlyEmbedder } from '../../infra/built-in-model/words-only.ts'
import { extractFile } from '../../services/knowledge/extract-file.ts'
import { retrieve } from '../../services/knowledge/retrieve.ts'
import type { VectorStore } from '../../services/knowledge/vector-store.ts'
import { countVectors } from '../../services/knowledge/vector-spaces.ts'
import { chunkId, chunksInGroup, chunksOf } from '../../domain/records/chunk-group.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'
import { plainEnv } from '../support/plain-env.ts'

let model: ScriptedModel
let embeddings: ScriptedModel
let service: TestService
beforeAll(async () => {
  ;[model, embeddings] = await Promise.all([startScriptedModel(), startScriptedModel()])
  const env = {
    ...model.env,
    EMBEDDING_BASE_URL: embeddings.url,
    EMBEDDING_API_KEY: 'embedding-key',
    EMBEDDING_MODEL: 'new-model',
    EMBEDDING_DIMENSIONS: '64',
  }
  service = await startService({ env })
})
afterAll(async () => {
  await service.close()
  await Promise.all([model.close(), embeddings.close()])
})

const guide = '# Opening hours\n\nThe harbour office opens at six.\n\n# Fees\n\nA berth costs twelve marks a night.\n'

test('an owner sees the chunks of a file in pages, and the passages for a query', async () => {
  const client = await knowledgeClient(await insertUser(service))
  const { body } = await client.upload([{ name: 'guide.md', content: guide }])
  const [file] = body.files
  const path = `/assistants/${client.assistantId}/files`

  const { chunks, total } = await client.get(`${path}/${file.id}/chunks`)
  expect(total).toBe(file.metadata.chunks)
  expect(chunks.map(({ position }: any) => position)).toEqual([...chunks.keys()])
  expect(chunks.map(({ text }: any) => text).join('\n')).toContain('twelve marks')
  const rest = await client.get(`${path}/${file.id}/chunks?limit=1&offset=${total - 1}`)
  expect(rest.chunks).toEqual(chunks.slice(-1))
  expect((await client.call('GET', `${path}/no-such-file/chunks`)).status).toBe(404)

  const { passages } = await client.post(`${path}/search`, { query: 'What does a berth cost?', limit: 1 })
  expect(passages).toHaveLength(1)
  expect(passages[0]).toMatchObject({ file_id: file.id, file_name: 'guide.md', text: expect.stringContaining('berth') })
  expect(passages[0]).toMatchObject({ by_meaning: expect.any(Number), by_words: 1 })
  const { passages: unlike } = await client.post(`${path}/search`, { query: 'xylophone' })
  expect(unlike[0]).toMatchObject({ by_meaning: 1 })
  expect(unlike[0]).not.toHaveProperty('by_words')
})

test('an owner keeps questions with the place that answers them, and compares what is found each time', async () => {
  const client = await knowledgeClient(await insertUser(service))
  await client.upload([
    { name: 'guide.md', content: guide },
    { name: 'other.md', content: 'Cranes are green.' },
  ])
  const path = `/assistants/${client.assistantId}/evaluation`
  expect(await client.get(path)).toEqual({ questions: [], runs: [] })
  expect((await client.call('POST', `${path}/runs`)).status).toBe(400)
  const berth = { question: 'What does a berth cost?', file_name: 'guide.md' }
  const cranes = { question: 'Which colour have cranes?', file_name: 'other.md' }
  const questions = [berth, berth, { ...cranes, page: 2 }]
  const kept = await client.call('PUT', path, { questions })
  expect(kept.body.questions).toHaveLength(2)
  const ids = kept.body.questions.map(({ question_id: id }: any) => id)
  const first = await client.post(`${path}/runs`, undefined)
  expect(first).toMatchObject({
    embedding_model: 'new-model (64 dimensions)',
    files: 2,
    right: { first: 0.5, five: 0.5, ten: 0.5 },
    places: [
      { question_id: ids[0], place: 1 },
      { question_id: ids[1], place: 0 },
    ],
  })
  await client.call('PUT', path, { questions: [berth, cranes] })
  const second = await client.post(`${path}/runs`, undefined)
  expect(second.right).toMatchObject({ five: 1 })
  const both = await client.get(path)
  expect(both.runs).toEqual([second, first])
  expect(both.questions[0].question_id).toBe(ids[0])
  const bad = await client.call('PUT', path, { questions: [{ ...berth, page: 0 }] })
  expect(bad.status).toBe(422)
  await client.call('DELETE', `/assistants/${client.assistantId}`)
  expect(await service.collections.evaluations.countDocuments({ _id: client.assistantId })).toBe(0)
})

const entries = (count: number) =>
  Array.from(
    { length: count },
    (_, index) => `## Entry ${index}\n\n${`Ship ${index} brought coal and timber. `.repeat(40)}\n`,
  )

test('pages of the pieces begin and end anywhere, within a stored group or across several', async () => {
  const client = await knowledgeClient(await insertUser(service))
  const { body } = await client.upload([{ name: 'log.md', content: entries(3 * chunksInGroup).join('\n') }])
  const [{ id, metadata }] = body.files
  const path = `/assistants/${client.assistantId}/files/${id}/chunks`
  const { chunks: all, total } = await client.get(`${path}?limit=200`)
  expect(total).toBeGreaterThan(2 * chunksInGroup)
  expect(all.map(({ position }: any) => position)).toEqual([...Array(total).keys()])
  for (const offset of [0, 1, chunksInGroup - 1, chunksInGroup, 2 * chunksInGroup - 2, total - 2]) {
    const { chunks } = await client.get(`${path}?limit=3&offset=${offset}`)
    expect(chunks).toEqual(all.slice(offset, offset + 3))
  }
  expect(await client.get(`${path}?offset=${total}`)).toEqual({ chunks: [], total })
  const records = await service.collections.chunks.countDocuments({ file_id: id })
  expect(records).toBe(Math.ceil(metadata.chunks / chunksInGroup))
})

test('an attempt that goes on after one that was killed leaves no chunk twice', async () => {
  const client = await knowledgeClient(await insertUser(service))
  const { body } = await client.upload([{ name: 'log.md', content: entries(40).join('\n') }])
  const [{ id }] = body.files
  const all = (await service.collections.chunks.find({ file_id: id }).sort({ position: 1 }).lean()).flatMap(chunksOf)
  expect(all.length).toBeGreaterThan(chunksInGroup)
  // What the killed worker leaves: one group of chunks that are counted, and more that are not.
  await service.collections.files.updateOne(
    { _id: id },
    { $set: { status: 'processing', extracted: false, chunks: chunksInGroup, embedded: 0 } },
  )
  const extraction = {
    async *extract() {
      for (const chunk of all) yield { ...chunk, newCharacters: 1 }
      return { contentType: 'text/markdown' }
    },
  }
  const readingSlots = { acquire: async () => () => undefined }
  const deps = {
    collections: service.collections,
    blobs: service.api.infra.knowledge.blobs,
    extraction,
    readingSlots,
    scanSlots: { ...readingSlots, tryAcquire: () => () => undefined },
    recognition: { secondsLeft: async () => 1, note: () => undefined },
    workUsage: service.api.platform.core.workUsage,
  }
  expect(await extractFile(deps, id, new AbortController().signal)).toBe('done')
  const after = await service.collections.chunks.find({ file_id: id }).sort({ position: 1 }).lean()
  expect(after.flatMap(chunksOf)).toEqual(all)
})

/** What 1,000 chunks may cost the database; one record for each would be 1,000 insertions alone. */
const limits = { commands: 24, written: 40 }

test('a thousand chunks are stored and embedded with few commands and few records', async () => {
  const client = await knowledgeClient(await insertUser(service))
  const seen: { name: string; records: number }[] = []
  let fileId = ''
  const note = ({ commandName: name, command }: { commandName: string; command: object }) => {
    const text = JSON.stringify(command)
    // The commands of the upload itself name the file, too: those before its first chunk are not counted.
    if (!text.includes(client.assistantId) && (fileId === '' || !text.includes(fileId))) return
    // The embedding looks at the file until there is more to embed, and somebody looks each second whether the file is
    // still wanted: these follow the time that the extraction takes, not the chunks.
    if (name === 'find' && Reflect.get(command, name) !== 'chunks') return
    const documents: unknown = Reflect.get(command, 'documents')
    const collection: unknown = Reflect.get(command, name)
    if (typeof collection === 'string' && collection.startsWith('blobs')) return
    seen.push({ name, records: Array.isArray(documents) ? documents.length : 0 })
  }
  for (const database of service.databases) database.getClient().on('commandStarted', note)
  const { body } = await client.upload([{ name: 'log.md', content: entries(3000).join('\n') }], '?wait=false')
  fileId = body.files[0].id
  const path = `/assistants/${client.assistantId}/ingestions/${body.ingestion_id}`
  await service.temporal.workflow.getHandle(`ingestion/${body.ingestion_id}`).result()
  for (const database of service.databases) database.getClient().off('commandStarted', note)

  const [file] = (await client.get(path)).files
  expect(file.metadata).toMatchObject({ status: 'ready' })
  const thousands = file.metadata.chunks / 1000
  expect(thousands).toBeGreaterThan(2)
  const written = seen.reduce((sum, { records }) => sum + records, 0)
  // A dozen of them belong to the file, however long it is.
  const counts = { commands: (seen.length - 12) / thousands, written: written / thousands }
  const exceeded = Object.entries(limits).filter(([name, limit]) => counts[name as keyof typeof counts] > limit)
  expect(exceeded, `measured: ${JSON.stringify(counts)}`).toEqual([])
})

test('a failing model server makes the search unavailable, without details in the error', async () => {
  const client = await knowledgeClient(await insertUser(service))
  await client.upload([{ name: 'guide.md', content: guide }])
  embeddings.embeddings.fail({ status: 400, times: 1 })
  const { status, body } = await client.call('POST', `/assistants/${client.assistantId}/files/search`, { query: 'x' })
  expect(status).toBe(503)
  expect(body.detail).not.toMatch(/scripted/)
})

test('the embedding server embeds files and queries with its key, also for an assistant with its own provider account', async () => {
  const client = await knowledgeClient(await insertUser(service))
  await client.put(`/assistants/${client.assistantId}`, {
    name: 'Librarian',
    public: true,
    config: { 'type==agent/access_mode': 'public_no_auth' },
  })
  const account = { api_key: 'sk-of-the-user', base_url: 'https://8.8.8.8/v1' }
  await client.put(`/assistants/${client.assistantId}/compat-account`, account)
  const before = embeddings.embeddings.requests
  await client.upload([{ name: 'guide.md', content: guide }])
  await client.post(`/assistants/${client.assistantId}/files/search`, { query: 'berth' })
  expect(embeddings.embeddings.requests - before).toBe(2)
  expect(embeddings.embeddings.headers.at(-1)?.authorization).toBe('Bearer embedding-key')
  expect(model.embeddings.requests).toBe(0)
  const record = await service.collections.assistants.findById(client.assistantId).lean()
  expect(record?.embedding_model).toBe('new-model (64 dimensions)')
  expect((await client.get('/ok')).dependencies).toMatchObject({
    model: { status: 'ok', detail: 'scripted' },
    embeddings: { status: 'ok', detail: 'new-model' },
  })
})

test('vectors of two models are never mixed: new files are refused, old ones are found by words, and an emptied assistant uses the new model', async () => {
  const client = await knowledgeClient(await insertUser(service))
  const path = `/assistants/${client.assistantId}/files`
  await client.upload([{ name: 'guide.md', content: guide }])
  const known = (embedding_model: string) =>
    service.collections.assistants.updateOne({ _id: client.assistantId }, { $set: { embedding_model } })
  // As if the file had been embedded before EMBEDDING_MODEL was changed.
  await known('old-model (64 dimensions)')

  const requests = embeddings.embeddings.requests
  const { body } = await client.upload([{ name: 'more.md', content: 'Tugs cost more.' }])
  expect(body.files[0].metadata).toMatchObject({ status: 'failed', retryable: true })
  expect(body.files[0].metadata.error).toContain('old-model (64 dimensions)')
  expect(body.files[0].metadata.error).toContain('EMBEDDING_MODEL')
  const { passages } = await client.post(`${path}/search`, { query: 'berth' })
  expect(passages[0]).toMatchObject({ file_name: 'guide.md' })
  expect(embeddings.embeddings.requests).toBe(requests)

  const { files } = await client.get(path)
  const guideFile = files.find(({ name }: any) => name === 'guide.md')
  await client.call('DELETE', `${path}/${guideFile.id}`)
  const again = await client.upload([{ name: 'guide.md', content: guide }])
  expect(again.body.files[0].metadata.status).toBe('ready')
  const record = await service.collections.assistants.findById(client.assistantId).lean()
  expect(record?.embedding_model).toBe('new-model (64 dimensions)')
})

test('a file does not become ready if a worker with other settings changed its model meanwhile', async () => {
  const client = await knowledgeClient(await insertUser(service))
  const gate = Promise.withResolvers<void>()
  embeddings.embeddings.waitFor(gate.promise)
  const seen = embeddings.embeddings.requests
  const uploaded = client.upload([{ name: 'guide.md', content: guide }])
  await vi.waitFor(() => expect(embeddings.embeddings.requests).toBeGreaterThan(seen), 30_000)
  await service.collections.assistants.updateOne(
    { _id: client.assistantId },
    { $set: { embedding_model: 'newer-model (64 dimensions)' } },
  )
  gate.resolve()
  const { body } = await uploaded
  expect(body.files[0].metadata).toMatchObject({ status: 'failed' })
  expect(await service.api.infra.knowledge.vectors.count(client.assistantId)).toBe(0)
})

describe('after a change of the embedding model', () => {
  const tides = '# Tides\n\nHigh water is at noon and the ebb runs west.\n'
  type Client = Awaited<ReturnType<typeof knowledgeClient>>
  const vectors = () => service.api.infra.knowledge.vectors
  const record = ({ assistantId }: Client) => service.collections.assistants.findById(assistantId).lean()
  const routeOf = ({ assistantId }: Client) => `/assistants/${assistantId}/reembedding`
  const status = async (client: Client) => (await client.get(routeOf(client))).status
  const namesFor = async (client: Client, query: string) =>
    (await client.post(`/assistants/${client.assistantId}/files/search`, { query })).passages.map(
      ({ file_name }: any) => file_name,
    )

  /** An assistant with two files whose vectors are of another model, with another length. */
  async function outdated(): Promise<Client & { ids: string[] }> {
    const client = await knowledgeClient(await insertUser(service))
    const { body } = await client.upload([
      { name: 'tides.md', content: tides },
      { name: 'guide.md', content: guide },
    ])
    await vectors().deleteSpace(client.assistantId)
    for (const { id, metadata, name } of body.files) {
      expect(metadata).toMatchObject({ status: 'ready', chunks: 1 })
      const text = name === 'tides.md' ? tides : guide
      const vector = Array.from({ length: 32 }, () => 1)
      await vectors().upsert(client.assistantId, [{ id: chunkId(id, 0), fileId: id, position: 0, text, vector }])
    }
    const $set = { embedding_model: 'old-model (32 dimensions)' }
    await service.collections.assistants.updateOne({ _id: client.assistantId }, { $set })
    return { ...client, ids: body.files.map(({ id }: any) => id) }
  }

  /** The embedding of the guide waits until this is called. */
  function holdGuide(): () => void {
    const gate = Promise.withResolvers<void>()
    embeddings.embeddings.waitFor(gate.promise, 0, (input) => input.includes('berth costs'))
    return () => gate.resolve()
  }

  const oneDone = (client: Client) =>
    vi.waitFor(async () => expect((await client.get(routeOf(client))).chunks_done).toBe(1), 30_000)
  const isCurrent = (client: Client) => vi.waitFor(async () => expect(await status(client)).toBe('current'), 60_000)

  test('files are embedded anew while questions are answered and others upload, then the search switches over', async () => {
    const client = await outdated()
    expect(await client.get(routeOf(client))).toEqual({
      status: 'outdated',
      model: 'old-model (32 dimensions)',
      configured_model: 'new-model (64 dimensions)',
      files: 2,
      files_done: 0,
      chunks: 2,
      chunks_done: 0,
    })
    const release = holdGuide()
    const started = await client.call('POST', routeOf(client))
    expect(started).toMatchObject({ status: 202, body: { status: 'running', files: 2 } })
    expect((await client.call('POST', routeOf(client))).body.started_at).toBe(started.body.started_at)
    await oneDone(client)

    expect(await namesFor(client, 'fees of a berth')).toContain('guide.md')
    expect(await namesFor(client, 'high water')).toContain('tides.md')
    const added = await client.upload([{ name: 'tugs.md', content: 'Tugs cost more.' }], '?wait=false')
    const bystander = await knowledgeClient(await insertUser(service))
    const { body } = await bystander.upload([{ name: 'own.md', content: 'A file of somebody else.' }])
    expect(body.files[0].metadata.status).toBe('ready')
    expect(await namesFor(client, 'fees of a berth')).toContain('guide.md')
    expect((await bystander.call('POST', routeOf(client))).status).toBe(403)
    expect(await client.get(routeOf(client))).toMatchObject({ status: 'running', files: 2, files_done: 1 })

    release()
    await isCurrent(client)
    expect(await record(client)).toMatchObject({ embedding_model: 'new-model (64 dimensions)', vector_generation: 1 })
    for (const query of ['fees of a berth', 'high water']) expect(await namesFor(client, query)).toHaveLength(2)
    const files = `/assistants/${client.assistantId}/ingestions/${added.body.ingestion_id}`
    await vi.waitFor(async () => expect(await client.get(files)).toMatchObject({ status: 'done' }), 60_000)
    expect(await namesFor(client, 'Tugs')).toContain('tugs.md')
    await vi.waitFor(async () => expect(await vectors().count(client.assistantId)).toBe(0), 30_000)
    expect(await vectors().count(vectorSpace(client.assistantId, 1))).toBe(3)
    expect((await client.call('POST', routeOf(client))).body).toMatchObject({
      status: 'current',
      files: 3,
      files_done: 3,
    })
    expect((await record(client))?.last_generation).toBe(1)
  })

  test('a deletion of a file or of the assistant in the middle leaves nothing of it', async () => {
    const client = await outdated()
    const release = holdGuide()
    await client.call('POST', routeOf(client))
    await oneDone(client)
    const [, guideId] = client.ids
    expect((await client.call('DELETE', `/assistants/${client.assistantId}/files/${guideId}`)).status).toBe(200)
    release()
    await isCurrent(client)
    expect(await vectors().listFiles(vectorSpace(client.assistantId, 1))).toEqual([client.ids[0]])

    const other = await outdated()
    const releaseOther = holdGuide()
    await other.call('POST', routeOf(other))
    await oneDone(other)
    expect((await other.call('DELETE', `/assistants/${other.assistantId}`)).status).toBe(200)
    releaseOther()
    const workflow = service.temporal.workflow.getHandle(`reembedding/${other.assistantId}/1`)
    expect(await workflow.result()).toBe('gone')
    expect(await countVectors(vectors(), other.assistantId)).toBe(0)
  })

  test('a refusal of the embedding server stops it with a reason, answers go on, and it can be continued', async () => {
    const client = await outdated()
    embeddings.embeddings.fail({ status: 400, times: 1 })
    await client.call('POST', routeOf(client))
    await vi.waitFor(async () => expect(await status(client)).toBe('failed'), 30_000)
    expect((await client.get(routeOf(client))).error).toContain('tides.md')
    expect(await namesFor(client, 'fees of a berth')).toContain('guide.md')
    const { body } = await client.upload([{ name: 'tugs.md', content: 'Tugs cost more.' }])
    expect(body.files[0].metadata).toMatchObject({ status: 'failed', retryable: true })
    expect(body.files[0].metadata.error).toContain('/reembedding')
    await client.call('POST', routeOf(client))
    await isCurrent(client)
  })

  test('a run that read the assistant before the switch finds passages after it', async () => {
    const client = await outdated()
    const before = await record(client)
    await client.call('POST', routeOf(client))
    await isCurrent(client)
    await vi.waitFor(async () => expect(await vectors().count(client.assistantId)).toBe(0), 30_000)
    const { collections } = service
    const { embedder } = service.api.infra.knowledge
    if (before === null || embedder === undefined) throw new Error('unreachable')
    const deps = { collections, vectors: vectors(), embedder }
    expect(await retrieve(deps, { assistant: before, query: 'fees of a berth', limit: 1 })).toMatchObject([
      { file_name: 'guide.md' },
    ])
  })

  test('without a model no vectors are compared, also not while files are stored for it', async () => {
    const search = vi.fn<VectorStore['search']>(async () => [])
    const reembedding = { generation: 1, model: wordsOnlyEmbedder.model, started_at: new Date() }
    const assistant = { _id: 'nobody', embedding_model: 'earlier-model', reembedding }
    const deps = { collections: service.collections, vectors: { search }, embedder: wordsOnlyEmbedder }
    expect(await retrieve(deps, { assistant, query: 'fees', limit: 1 })).toEqual([])
    for (const space of ['nobody', vectorSpace('nobody', 1)])
      expect(search).toHaveBeenCalledWith(space, expect.objectContaining({ vector: undefined }))
  })

  test('the operator has the files of all assistants embedded anew, and vectors that the store lost', async () => {
    const [old, emptied] = [await outdated(), await knowledgeClient(await insertUser(service))]
    await emptied.upload([{ name: 'guide.md', content: guide }])
    await vectors().deleteSpace(emptied.assistantId)
    const run = async (...options: string[]) => {
      const { stdout } = await promisify(execFile)(process.execPath, ['scripts/reembed.ts', ...options], {
        env: { ...plainEnv(), ...service.env },
      })
      return JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
    }
    expect(await run('--dry-run')).toMatchObject({ outdated: 2, started: 0, chunks: 3 })
    expect(await run('--wait')).toMatchObject({ outdated: 0, running: 0, failed: 0 })
    for (const client of [old, emptied]) {
      expect(await status(client)).toBe('current')
      expect(await namesFor(client, 'fees of a berth')).toContain('guide.md')
    }
  }, 180_000)

  test('an assistant without files takes a model with vectors of another length', async () => {
    const client = await outdated()
    for (const id of client.ids) await client.call('DELETE', `/assistants/${client.assistantId}/files/${id}`)
    const { body } = await client.upload([{ name: 'guide.md', content: guide }])
    expect(body.files[0].metadata.status).toBe('ready')
    expect(await namesFor(client, 'fees of a berth')).toEqual(['guide.md'])
  })
})
