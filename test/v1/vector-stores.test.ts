import { type OpenAI, toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { clientWith, refusalOf, v1Client } from './v1-client.ts'

const hours = 'The office is open from nine to five. On Fridays the office closes at three.'
const rent = 'The rent of the flat is due on the first day of every month.'

describe('files and vector stores of /v1', () => {
  const service = useSharedService()
  const poll = { pollIntervalMs: 200 }

  async function upload(client: OpenAI, name: string, text: string) {
    return client.files.create({ file: await toFile(Buffer.from(text), name), purpose: 'assistants' })
  }

  it('store files, and give them back unchanged until they are deleted', async () => {
    const { client, owner } = await v1Client(service)
    const file = await upload(client, 'hours.txt', hours)
    expect(file).toMatchObject({ object: 'file', bytes: hours.length, filename: 'hours.txt', purpose: 'assistants' })
    expect(await client.files.retrieve(file.id)).toEqual(file)
    expect((await client.files.list()).data).toEqual([file])
    expect((await client.files.list({ purpose: 'vision' })).data).toEqual([])
    expect(await (await client.files.content(file.id)).text()).toBe(hours)
    const error = await refusalOf(
      client.files.create({ file: await toFile(Buffer.from('x'), 'x'), purpose: 'other' as OpenAI.FilePurpose }),
    )
    expect([error.status, error.param]).toEqual([400, 'purpose'])
    expect((await client.files.list()).data).toHaveLength(1)
    expect(await client.files.delete(file.id)).toMatchObject({ id: file.id, object: 'file', deleted: true })
    expect(await owner.get(`/receipts/${file.id}`)).toMatchObject({ status: 'complete', found: { files: 1, blobs: 1 } })
    expect((await refusalOf(client.files.retrieve(file.id))).status).toBe(404)
  })

  it('keep the same bytes once, and give each file its own attributes', async () => {
    const { client } = await v1Client(service)
    const [first, second] = await Promise.all([upload(client, 'hours.txt', hours), upload(client, 'times.txt', hours)])
    const store = await client.vectorStores.create({ name: 'Papers' })
    const add = (id: string, kind: string) =>
      client.vectorStores.files.createAndPoll(store.id, { file_id: id, attributes: { kind } }, poll)
    await add(first.id, 'one')
    expect(await add(second.id, 'other')).toMatchObject({ status: 'completed', last_error: null })
    expect(await service.api.infra.knowledge.vectors.count(store.id)).toBe(1)
    const search = async (body: Omit<OpenAI.VectorStoreSearchParams, 'query'> = {}) =>
      (await client.vectorStores.search(store.id, { query: 'When does it close?', ...body })).data
    expect(await search()).toMatchObject([{ file_id: first.id, attributes: { kind: 'one' } }])
    const filters = { type: 'eq', key: 'kind', value: 'other' } as const
    expect(await search({ filters })).toMatchObject([{ file_id: second.id, filename: 'times.txt' }])
    const content = async (id: string) =>
      (await client.vectorStores.files.content(id, { vector_store_id: store.id })).data
    expect(await content(second.id)).toEqual(await content(first.id))

    await client.files.delete(first.id)
    expect(await search()).toMatchObject([{ file_id: second.id, attributes: { kind: 'other' } }])
    expect(await service.api.infra.knowledge.vectors.count(store.id)).toBe(1)
    await client.vectorStores.files.delete(second.id, { vector_store_id: store.id })
    expect(await service.api.infra.knowledge.vectors.count(store.id)).toBe(0)
    expect(await search()).toEqual([])
  })

  it('search files by meaning and attributes, and prove their deletion in every place', async () => {
    const { client, owner } = await v1Client(service)
    const [first, second] = await Promise.all([upload(client, 'hours.txt', hours), upload(client, 'rent.txt', rent)])
    const store = await client.vectorStores.create({ name: 'Papers', metadata: { team: 'blue' } })
    expect(store).toMatchObject({
      object: 'vector_store',
      name: 'Papers',
      status: 'completed',
      metadata: { team: 'blue' },
    })
    const added = await client.vectorStores.files.createAndPoll(
      store.id,
      { file_id: first.id, attributes: { year: 2026, kind: 'hours' } },
      poll,
    )
    expect(added).toMatchObject({ id: first.id, status: 'completed', vector_store_id: store.id, last_error: null })
    const batch = await client.vectorStores.fileBatches.createAndPoll(
      store.id,
      { file_ids: [second.id], attributes: { year: 2020, kind: 'rent' } },
      poll,
    )
    expect(batch).toMatchObject({ status: 'completed', file_counts: { completed: 1, total: 1 } })
    expect(await client.vectorStores.retrieve(store.id)).toMatchObject({
      file_counts: { completed: 2, total: 2, failed: 0 },
      usage_bytes: hours.length + rent.length,
    })
    const listed = await client.vectorStores.files.list(store.id, { order: 'asc', filter: 'completed' })
    expect(listed.data.map(({ id }) => id)).toEqual([first.id, second.id])
    expect((await client.vectorStores.files.list(store.id, { order: 'asc', after: first.id })).data).toHaveLength(1)

    const search = async (body: OpenAI.VectorStoreSearchParams) =>
      (await client.vectorStores.search(store.id, body)).data.map(({ file_id: id }) => id)
    const query = 'When does the office close on Fridays?'
    const [best] = (await client.vectorStores.search(store.id, { query })).data
    expect(best).toMatchObject({
      file_id: first.id,
      filename: 'hours.txt',
      attributes: { year: 2026, kind: 'hours' },
      content: [{ type: 'text', text: hours }],
    })
    expect(await search({ query, filters: { type: 'eq', key: 'kind', value: 'rent' } })).toEqual([second.id])
    expect(
      await search({
        query,
        filters: {
          type: 'and',
          filters: [
            { type: 'gte', key: 'year', value: 2021 },
            { type: 'ne', key: 'kind', value: 'rent' },
          ],
        },
      }),
    ).toEqual([first.id])
    expect(await search({ query, filters: { type: 'eq', key: 'kind', value: 'none' } })).toEqual([])
    await client.vectorStores.files.update(first.id, { vector_store_id: store.id, attributes: { kind: 'new' } })
    expect(await search({ query, filters: { type: 'eq', key: 'kind', value: 'new' } })).toEqual([first.id])

    // An assistant searches the store, and so does a second one.
    service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query } }] })
    service.model.reply({ text: 'At three.' })
    const assistant = await client.beta.assistants.create({
      model: 'm',
      tools: [{ type: 'file_search' }],
      tool_resources: { file_search: { vector_store_ids: [store.id] } },
    })
    expect(assistant.tool_resources).toEqual({ file_search: { vector_store_ids: [store.id] } })
    const { thread_id: threadId } = await owner.post('/threads/', {})
    const run = await owner.post('/runs', {
      assistant_id: assistant.id,
      thread_id: threadId,
      input: [{ type: 'human', content: query }],
    })
    await eventually(
      'the end of the run',
      async () => (await owner.get(`/runs/${String(run.run_id)}`)).status === 'success',
    )
    expect(JSON.stringify(service.model.requests.at(-1)?.body.messages)).toContain(first.id)

    // Where a passage stands is among its attributes; what the owner has set stays.
    const guide = await upload(client, 'guide.md', '# Opening\n\nThe office closes at three.\n')
    const guides = await client.vectorStores.create({ name: 'Guides' })
    await client.vectorStores.files.createAndPoll(guides.id, { file_id: guide.id, attributes: { page: 'mine' } }, poll)
    const [placed] = (await client.vectorStores.search(guides.id, { query })).data
    expect(placed?.attributes).toEqual({ heading: 'Opening', page: 'mine' })
    await client.vectorStores.delete(guides.id)
    await client.files.delete(guide.id)

    // The deletion of a file removes it from the store, with its chunks and vectors.
    const { receipt_id: receiptId } = (await client.files.delete(first.id)) as unknown as { receipt_id: string }
    expect(await owner.get(`/receipts/${receiptId}`)).toMatchObject({
      status: 'complete',
      found: { files: 2, chunks: 1, vectors: 1, blobs: 1 },
      left: { files: 0, chunks: 0, vectors: 0, blobs: 0 },
    })
    expect(await search({ query })).toEqual([second.id])
    const gone = await client.vectorStores.delete(store.id)
    expect(gone).toMatchObject({ object: 'vector_store.deleted', deleted: true })
    const receipt = await owner.get(`/receipts/${(gone as unknown as { receipt_id: string }).receipt_id}`)
    expect(receipt).toMatchObject({
      kind: 'vector_store',
      status: 'complete',
      found: { vector_stores: 1, files: 1, chunks: 1, vectors: 1 },
      left: { vector_stores: 0, files: 0, chunks: 0, vectors: 0 },
    })
    // The file itself stays, and the assistant goes on without the store.
    expect((await client.files.list()).data.map(({ id }) => id)).toEqual([second.id])
  })

  it('are no assistants, and belong to one project', async () => {
    const { client, owner } = await v1Client(service)
    const file = await upload(client, 'a.txt', hours)
    const store = await client.vectorStores.create({ name: 'S', file_ids: [file.id] })
    expect((await client.beta.assistants.list()).data).toEqual([])
    expect((await owner.call('GET', `/assistants/${store.id}`)).status).toBe(404)
    expect((await owner.call('GET', `/assistants/${store.id}/files`)).status).toBe(404)
    expect((await owner.call('PUT', `/assistants/${store.id}`, { name: 'mine' })).status).not.toBe(200)
    const { project_id: other } = await owner.post('/projects/', { name: 'Other' })
    const { jwt_token: token } = await owner.get(`/projects/${String(other)}`)
    const second = clientWith(service, String(token))
    for (const request of [
      () => second.files.retrieve(file.id),
      () => second.files.content(file.id),
      () => second.vectorStores.retrieve(store.id),
      () => second.vectorStores.search(store.id, { query: 'x' }),
      () => second.vectorStores.create({ file_ids: [file.id] }),
      () =>
        second.beta.assistants.create({
          model: 'm',
          tool_resources: { file_search: { vector_store_ids: [store.id] } },
        }),
    ])
      expect((await refusalOf(request())).status).toBe(404)
    expect((await second.vectorStores.list()).data).toEqual([])
    // The deletion of the project takes all of it.
    await eventually(
      'the end of the ingestion',
      async () => (await client.vectorStores.retrieve(store.id)).status === 'completed',
    )
    await owner.call('DELETE', `/projects/${owner.projectId}?confirm=true`)
    const left = { assistant_id: { $in: [store.id, projectOwner(owner.projectId)] } }
    await eventually(
      'the deletion of the project',
      async () => (await service.collections.files.countDocuments(left)) === 0,
    )
    expect(await service.collections.assistants.countDocuments({ _id: store.id })).toBe(0)
  })

  it('queries are rewritten by the model, within the budget, or searched as they are', async () => {
    const { client, owner } = await v1Client(service)
    const file = await client.files.create({
      file: await toFile(Buffer.from(hours), 'hours.txt'),
      purpose: 'assistants',
    })
    const store = await client.vectorStores.create({})
    await client.vectorStores.files.createAndPoll(store.id, { file_id: file.id }, { pollIntervalMs: 50 })
    const search = async (query: string | string[]) => {
      const page = await client.vectorStores.search(store.id, { query, rewrite_query: true })
      expect(page.data[0]?.filename).toBe('hours.txt')
      return Reflect.get(page, 'body').search_query
    }
    const own = { user_id: owner.userId }
    const budget = `/projects/${owner.projectId}/budget`
    await owner.put(budget, { runs: 100 })
    service.model.reply({ text: 'Here:\n```json\n["office closing time on Fridays"]\n```' })
    expect(await search('hi, when do you close on fri?')).toEqual(['office closing time on Fridays'])
    const asked = service.model.requests.at(-1)?.body
    expect(asked).toMatchObject({ model: service.settings.defaultModel, max_tokens: 200 })
    expect(asked?.messages.at(-1)).toEqual({ role: 'user', content: '["hi, when do you close on fri?"]' })
    service.model.reply({ text: '["one", "two"]' })
    expect(await search(['first', 'second'])).toEqual(['one', 'two'])

    const asTheyWere = ['first', 'second']
    for (const text of ['["only one"]', 'No.', '["one", ""]', `["one", "${'x'.repeat(2001)}"]`]) {
      service.model.reply({ text })
      expect(await search(asTheyWere)).toEqual(asTheyWere)
    }
    service.model.reply({ status: 400, errorMessage: 'No such parameter.' })
    expect(await search(asTheyWere)).toEqual(asTheyWere)
    // The run that the model refused is given back.
    expect(await owner.get(budget)).toMatchObject({ used: { runs: 6 } })

    await owner.put(budget, { runs: 6 })
    const before = service.model.requests.length
    expect(await search(asTheyWere)).toEqual(asTheyWere)
    expect(service.model.requests.length).toBe(before)
    const threads = () => service.collections.threads.countDocuments({ ...own, name: 'Chat completion' })
    await eventually('nothing of it to be kept', async () => (await threads()) === 0)
    expect(await service.collections.runs.countDocuments(own)).toBe(0)
  })
})
