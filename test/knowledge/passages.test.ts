import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { knowledgeClient } from '../support/knowledge.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

let model: ScriptedModel
let embeddings: ScriptedModel
let service: TestService
beforeAll(async () => {
  ;[model, embeddings] = await Promise.all([startScriptedModel(), startScriptedModel()])
  service = await startService({
    env: {
      ...model.env,
      EMBEDDING_BASE_URL: embeddings.url,
      EMBEDDING_API_KEY: 'embedding-key',
      EMBEDDING_MODEL: 'new-model',
      EMBEDDING_DIMENSIONS: '64',
    },
  })
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
