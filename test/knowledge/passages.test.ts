import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import { chunkId, chunksInGroup, chunksOf, toGroups } from '../../domain/records/chunk-group.ts'
import { unprocessed } from '../../domain/records/file.ts'
import { wordsOnlyEmbedder } from '../../infra/built-in-model/embedder.ts'
import { deleteFile } from '../../services/knowledge/delete-file.ts'
import { extractFile } from '../../services/knowledge/extract-file.ts'
import { deletionOf } from '../../services/knowledge/files.ts'
import { retrieve } from '../../services/knowledge/retrieve.ts'
import { shareContent } from '../../services/knowledge/shared-content.ts'
import { contentStore } from '../../services/knowledge/store.ts'
import { deleteKnowledgeOrphans, findKnowledgeOrphans } from '../../services/knowledge/sweep.ts'
import { countVectors } from '../../services/knowledge/vector-spaces.ts'
import type { VectorStore } from '../../services/knowledge/vector-store.ts'
import { archiveOf, importInto } from '../support/archives.ts'
import { commandsDuring } from '../support/commands.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { plainEnv } from '../support/plain-env.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

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

test('a question that names a report finds its passages first', async () => {
  const client = await knowledgeClient(await insertUser(service))
  const reportOf = (company: string, year: number) => ({
    name: `${company}_${year}_annual-report.md`,
    content: `# Balance sheet\n\nTotal assets were ${year * company.length} million dollars.\n`,
  })
  await client.upload([
    reportOf('ACME', 2021),
    reportOf('ACME', 2022),
    reportOf('Zenith', 2022),
    { name: 'french-and-indian-war.md', content: 'It was fought from 1754 to 1763.' },
  ])
  const path = `/assistants/${client.assistantId}/files`
  const { passages } = await client.post(`${path}/search`, { query: 'total assets of ACME in FY2022' })
  expect(passages[0]).toMatchObject({ file_name: 'ACME_2022_annual-report.md', by_name: expect.closeTo(0.7, 1) })
  const { passages: unnamed } = await client.post(`${path}/search`, { query: 'Who lent the money?' })
  expect(unnamed).toHaveLength(4)
  expect(unnamed.some((passage: any) => 'by_name' in passage)).toBe(false)
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

  // It comes along in an archive, and again changes nothing.
  const target = await insertUser(service)
  const archive = await archiveOf(service, client)
  const { body: report } = await importInto(service, target, archive)
  expect(report).toMatchObject({ imported: { assistants: 1, evaluations: 1 }, problems: [] })
  const imported = await service.collections.assistants.findOne({ user_id: target.userId }).lean().orFail()
  const [ours, theirs] = await Promise.all(
    [client.assistantId, imported._id].map((id) => service.collections.evaluations.findById(id).lean().orFail()),
  )
  expect(theirs).toEqual({ ...ours, _id: imported._id, updated_at: expect.any(Date) })
  expect((await importInto(service, target, archive)).body).toMatchObject({ existing: { evaluations: 1 } })
  await client.call('DELETE', `/assistants/${client.assistantId}`)
  expect(await service.collections.evaluations.countDocuments({ _id: client.assistantId })).toBe(0)
})

describe('the same bytes twice in an assistant', () => {
  const handbook = '# Moorings\n\nThe eastern quay takes vessels of ninety metres.\n'
  const question = { query: 'Which vessels does the eastern quay take?' }
  const named = [
    { name: 'handbook.md', content: handbook },
    { name: 'quay rules.md', content: handbook },
  ]
  type Client = Awaited<ReturnType<typeof knowledgeClient>>
  const pathOf = ({ assistantId }: Client) => `/assistants/${assistantId}/files`
  const vectors = () => service.api.infra.knowledge.vectors
  const stores = () => ({ collections: service.collections, ...service.api.infra.knowledge })

  test('are embedded once and found in one place, whichever copy is deleted first', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const { body } = await client.upload(named)
    expect(body.files.map(({ metadata }: any) => metadata)).toMatchObject([
      { status: 'ready', chunks: 1 },
      { status: 'ready', chunks: 1 },
    ])
    const third = await client.upload([{ name: 'handbook.md', content: handbook }])
    expect(await vectors().count(client.assistantId)).toBe(1)
    expect(await service.collections.chunks.countDocuments({ assistant_id: client.assistantId })).toBe(1)
    const [first, second] = body.files.map(({ id }: any) => id)
    const { passages } = await client.post(`${pathOf(client)}/search`, question)
    expect(passages).toHaveLength(1)
    expect(passages[0]).toMatchObject({ file_id: first, file_name: 'handbook.md', copies: ['quay rules.md'] })
    const assistant = await service.collections.assistants.findById(client.assistantId).lean().orFail()
    const { collections } = service
    const { embedder } = service.api.infra.knowledge
    if (embedder === undefined) throw new Error('unreachable')
    const queriesFor = async (fileIds?: string[]) => {
      const deps = { collections, vectors: vectors(), embedder }
      const input = { assistant, ...question, limit: 5, ...(fileIds === undefined ? {} : { fileIds }) }
      const seen = await commandsDuring(service.databases, async () =>
        expect(await retrieve(deps, input)).toHaveLength(1),
      )
      const own = seen.filter(({ command }) => JSON.stringify(command).includes(client.assistantId))
      return own.filter(({ name, command }) => name === 'find' && JSON.stringify(command).includes('content_id')).length
    }
    expect([await queriesFor(), await queriesFor([second])]).toEqual([1, 2])
    expect((await client.get(`${pathOf(client)}/${second}/chunks`)).chunks[0].text).toContain('eastern quay')
    expect(await client.get(`/assistants/${client.assistantId}/reembedding`)).toMatchObject({
      status: 'current',
      files: 3,
      chunks: 1,
    })

    expect((await client.call('DELETE', `${pathOf(client)}/${first}`)).status).toBe(200)
    expect(await client.get(`/receipts/${first}`)).toMatchObject({
      status: 'complete',
      found: { files: 1, chunks: 0, vectors: 0, blobs: 1 },
    })
    const found = await client.post(`${pathOf(client)}/search`, question)
    expect(found.passages).toHaveLength(1)
    expect(found.passages[0]).toMatchObject({ file_id: second, file_name: 'quay rules.md', copies: ['handbook.md'] })
    const orphans = await findKnowledgeOrphans(stores())
    expect(JSON.stringify(orphans)).not.toContain(client.assistantId)

    await client.call('DELETE', `${pathOf(client)}/${third.body.files[0].id}`)
    await client.call('DELETE', `${pathOf(client)}/${second}`)
    expect(await client.get(`/receipts/${second}`)).toMatchObject({ found: { files: 1, chunks: 1, vectors: 1 } })
    expect(await vectors().count(client.assistantId)).toBe(0)
    expect(await service.collections.chunks.countDocuments({ assistant_id: client.assistantId })).toBe(0)
  })

  test('wait for the copy that is being read, but not for one that stands still', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const { body } = await client.upload(named.slice(0, 1))
    const [{ id }] = body.files
    const { files } = service.collections
    const known = await files.findById(id).lean().orFail()
    const copy = { ...known, _id: `${id}-copy`, status: 'queued' as const, created_at: new Date(), chunks: 0 }
    const deps = { ...service.api.platform.core, ...service.api.infra.knowledge }
    const share = async () => shareContent(deps, await files.findById(copy._id).lean().orFail())
    await files.create([{ ...copy, embedded: 0, extracted: false, sha256: '' }])
    await files.updateOne({ _id: id }, { $set: { status: 'processing', updated_at: new Date() } })
    expect(await share()).toBe('wait')
    expect(await files.findById(copy._id).lean()).toMatchObject({ sha256: known.sha256, status: 'queued' })
    await files.updateOne({ _id: id }, { $set: { updated_at: new Date(Date.now() - 3_600_000) } })
    expect(await share()).toBe('own')
    await files.updateOne({ _id: id }, { $set: { status: 'ready' } })
    await files.updateOne({ _id: copy._id }, { $set: { name: 'handbook.txt' } })
    const sessionOf = ({ command }: { command: object }) => JSON.stringify(Reflect.get(command, 'lsid'))
    const statementsOf = async (sharing: string) => {
      const record = await files.findById(copy._id).lean().orFail()
      const seen = await commandsDuring(service.databases, async () =>
        expect(await shareContent(deps, record)).toBe(sharing),
      )
      // The service looks at other records meanwhile.
      const own = seen.filter(({ command }) => JSON.stringify(command).includes(id))
      const sessions = own.map(sessionOf)
      const isOwn = (one: (typeof seen)[number]) =>
        own.includes(one) || (one.name === 'commitTransaction' && sessions.includes(sessionOf(one)))
      return seen.filter(isOwn).map(({ name }) => name)
    }
    expect(await statementsOf('own')).toEqual(['find'])
    await files.updateOne({ _id: copy._id }, { $set: { name: 'copy.MD' } })
    expect(await statementsOf('shared')).toEqual(['find', 'findAndModify', 'update', 'commitTransaction'])
    expect(await files.findById(copy._id).lean()).toMatchObject({ status: 'ready', content_id: id, chunks: 1 })
  })

  /** What is stored under this id, in groups of chunks and in vectors. */
  const storedUnder = async ({ assistantId }: Client, id: string) => [
    await service.collections.chunks.countDocuments({ assistant_id: assistantId, file_id: id }),
    await vectors().count(assistantId, id),
  ]
  const deletion = () => ({ ...stores(), workflows: { signal: async () => true } })
  const sharing = () => ({ ...service.api.platform.core, ...service.api.infra.knowledge })
  const recordOf = (id: string) => service.collections.files.findById(id).lean().orFail()

  /** A file that has been read, and one with the same bytes that has not. */
  async function readAndUnread(client: Client) {
    const { body } = await client.upload(named.slice(0, 1))
    const first = await recordOf(body.files[0].id)
    const copy = { ...first, _id: newId(), status: 'queued' as const, created_at: new Date(), ...unprocessed }
    await service.collections.files.create([copy])
    return { first, copy }
  }

  test('leave nothing when a file becomes a copy while it is deleted, or has been read in part', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const { first, copy } = await readAndUnread(client)
    const { assistantId } = client
    // A worker that was killed has stored a group of chunks, and has not counted them.
    await service.collections.chunks.create(toGroups(copy, 0, [{ text: 'The eastern quay', tokens: 3 }]))
    expect(await shareContent(sharing(), copy)).toBe('shared')
    expect(await contentStore(service.collections).isShared({ assistantId, contentId: copy._id })).toBe(false)
    // The request came before.
    const before = deletionOf(copy)
    expect(await deleteFile(deletion(), deletionOf(first))).toBe(true)
    expect(await storedUnder(client, first._id)).toEqual([1, 1])
    const away = async () => Promise.reject(new Error('The vector store is away.'))
    const interrupted = { ...deletion(), vectors: { ...vectors(), spacesOf: away } }
    await expect(deleteFile(interrupted, before)).rejects.toThrow('is away')
    expect(await service.collections.files.exists({ _id: copy._id })).toBeNull()
    expect(await deleteFile(deletion(), before)).toBe(true)
    for (const id of [first._id, copy._id]) expect(await storedUnder(client, id)).toEqual([0, 0])
    expect(await client.get(`/receipts/${copy._id}`)).toMatchObject({
      status: 'complete',
      found: { chunks: 1, vectors: 1 },
      left: { chunks: 0, vectors: 0 },
    })
  })

  test('either keep what a copy needs or leave nothing, when the first is deleted while a copy is added', async () => {
    const client = await knowledgeClient(await insertUser(service))
    for (const isCopyDeleted of [false, true, false, true]) {
      const { first, copy } = await readAndUnread(client)
      const [sharedAs] = await Promise.all([
        shareContent(sharing(), copy),
        deleteFile(deletion(), deletionOf(first)),
        ...(isCopyDeleted ? [deleteFile(deletion(), deletionOf(copy))] : []),
      ])
      const left = await service.collections.files.findById(copy._id).lean()
      expect(left?.status).toBe(isCopyDeleted ? undefined : sharedAs === 'shared' ? 'ready' : 'queued')
      const isUsed = left?.status === 'ready'
      expect(await storedUnder(client, first._id)).toEqual(isUsed ? [1, 1] : [0, 0])
      // As the sweep does with what an owner left that is gone.
      const files = left === null ? [] : [copy._id]
      await deleteKnowledgeOrphans(stores(), { files, chunks: [], blobs: [], vectors: [] })
      expect(await storedUnder(client, first._id)).toEqual([0, 0])
    }
  })

  test('can be uploaded at once, and deleted at once', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const uploads = await Promise.all(named.map((file) => client.upload([file])))
    const files = uploads.map(({ body }) => body.files[0])
    expect(files.map(({ metadata }) => metadata.status)).toEqual(['ready', 'ready'])
    expect((await client.post(`${pathOf(client)}/search`, question)).passages).toHaveLength(1)
    await Promise.all(files.map(({ id }) => client.call('DELETE', `${pathOf(client)}/${id}`)))
    expect(await countVectors(vectors(), client.assistantId)).toBe(0)
    expect(await service.collections.chunks.countDocuments({ assistant_id: client.assistantId })).toBe(0)
  })

  test('are embedded anew once', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const { body } = await client.upload(named)
    await client.call('DELETE', `${pathOf(client)}/${body.files[0].id}`)
    await client.upload(named.slice(0, 1))
    const $set = { embedding_model: 'old-model (64 dimensions)' }
    await service.collections.assistants.updateOne({ _id: client.assistantId }, { $set })
    const path = `/assistants/${client.assistantId}/reembedding`
    expect(await client.get(path)).toMatchObject({ status: 'outdated', files: 2, chunks: 1 })
    expect((await client.call('POST', path)).status).toBe(202)
    await vi.waitFor(
      async () => expect(await client.get(path)).toMatchObject({ status: 'current', files_done: 2, chunks_done: 1 }),
      60_000,
    )
    expect(await vectors().count(vectorSpace(client.assistantId, 1))).toBe(1)
    expect((await client.post(`${pathOf(client)}/search`, question)).passages).toHaveLength(1)
  })
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
    transaction: service.api.platform.core.transaction,
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

  test('copies that are added in the middle are ready at once, and are embedded anew though the first is deleted', async () => {
    const client = await outdated()
    const [tidesId = '', guideId = ''] = client.ids
    const release = holdGuide()
    await client.call('POST', routeOf(client))
    await oneDone(client)
    const added = await client.upload([
      { name: 'ebb.md', content: tides },
      { name: 'fees.md', content: guide },
    ])
    expect(added.body.files.map(({ metadata }: any) => metadata.status)).toEqual(['ready', 'ready'])
    expect(await client.get(routeOf(client))).toMatchObject({ status: 'running', files: 4, files_done: 2, chunks: 2 })
    expect((await client.call('DELETE', `/assistants/${client.assistantId}/files/${guideId}`)).status).toBe(200)
    expect(await namesFor(client, 'fees of a berth')).toContain('fees.md')
    release()
    await isCurrent(client)
    expect(await client.get(routeOf(client))).toMatchObject({ files: 3, files_done: 3, chunks: 2, chunks_done: 2 })
    const kept = (await vectors().listFiles(vectorSpace(client.assistantId, 1))).toSorted()
    expect(kept).toEqual([tidesId, guideId].toSorted())
    expect(await namesFor(client, 'fees of a berth')).toContain('fees.md')
    const records = await service.collections.files.find({ assistant_id: client.assistantId }).lean()
    expect(records.map(({ generation }) => generation)).toEqual([1, 1, 1])
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
