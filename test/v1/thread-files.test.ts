import OpenAI, { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startHttpServer } from '../support/http-server.ts'
import { useSharedService } from '../support/shared-service.ts'
import { refusalOf, v1Client } from './v1-client.ts'

/** The smallest PNG. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const pngUrl = `data:image/png;base64,${png.toString('base64')}`
const hours = 'The office is open from nine to five. On Fridays the office closes at three.'
const pollIntervalMs = 50
const file_search = { type: 'file_search' as const }

describe('files of messages on /v1', () => {
  const service = useSharedService()

  async function setUp() {
    const { client, owner } = await v1Client(service)
    const assistant = await client.beta.assistants.create({ model: 'scripted', tools: [file_search] })
    const upload = async (bytes: Buffer, name: string, purpose: OpenAI.FilePurpose = 'assistants') =>
      (await client.files.create({ file: await toFile(bytes, name), purpose })).id
    return { client, owner, assistant, upload }
  }
  const asked = () => service.model.requests.at(-1)?.body

  it('go to a vector store that is left when another one of the thread is deleted', async () => {
    const { client, upload } = await setUp()
    const [gone, left] = [await client.vectorStores.create({}), await client.vectorStores.create({})]
    const vector_store_ids = [gone.id, left.id]
    const thread = await client.beta.threads.create()
    await client.beta.threads.update(thread.id, { tool_resources: { file_search: { vector_store_ids } } })
    await client.vectorStores.delete(gone.id)
    const file_id = await upload(Buffer.from(hours), 'hours.txt')
    await client.beta.threads.messages.create(thread.id, {
      role: 'user',
      content: 'When?',
      attachments: [{ file_id, tools: [file_search] }],
    })
    const { tool_resources: now } = await client.beta.threads.retrieve(thread.id)
    expect(now?.file_search?.vector_store_ids).toContain(left.id)
    expect((await client.vectorStores.files.list(left.id)).data.map(({ id }) => id)).toEqual([file_id])
  })

  it('images are shown to the model, and again as they were sent', async () => {
    const { client, owner, assistant, upload } = await setUp()
    const site = await startHttpServer((_request, response) => void response.end(png))
    const image = await upload(png, 'a.png', 'vision')
    const url = `${site.url}/b.png`
    const thread = await client.beta.threads.create({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What are ' },
            { type: 'image_file', image_file: { file_id: image, detail: 'low' } },
            { type: 'text', text: 'these?' },
          ],
          metadata: { kind: 'question' },
        },
      ],
    })
    const added = await client.beta.threads.messages.create(thread.id, {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url, detail: 'high' } }],
    })
    expect(added.content).toEqual([{ type: 'image_url', image_url: { url, detail: 'high' } }])
    service.model.reply({ text: 'Dots.' })
    const run = await client.beta.threads.runs.createAndPoll(
      thread.id,
      {
        assistant_id: assistant.id,
        additional_messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: pngUrl } }] }],
      },
      { pollIntervalMs },
    )
    expect(run.status).toBe('completed')
    expect(asked()?.messages.map(({ content }) => content)).toEqual([
      [
        { type: 'text', text: 'What are ' },
        { type: 'image_url', image_url: { url: pngUrl, detail: 'low' } },
        { type: 'text', text: 'these?' },
      ],
      [{ type: 'image_url', image_url: { url: pngUrl, detail: 'high' } }],
      [{ type: 'image_url', image_url: { url: pngUrl } }],
    ])
    const listed = (await client.beta.threads.messages.list(thread.id, { order: 'asc' })).data
    expect(listed[0]).toMatchObject({
      metadata: { kind: 'question' },
      content: [
        { type: 'text', text: { value: 'What are ', annotations: [] } },
        { type: 'image_file', image_file: { file_id: image, detail: 'low' } },
        { type: 'text', text: { value: 'these?' } },
      ],
    })
    expect(listed[1]?.content).toEqual(added.content)
    const [sent] = listed[2]?.content ?? []
    const link = sent?.type === 'image_url' ? new URL(sent.image_url.url).pathname : ''
    const shown = await owner.fetch('GET', link)
    expect([shown.headers.get('content-type'), Buffer.from(await shown.arrayBuffer())]).toEqual(['image/png', png])

    const before = await service.collections.attachments.countDocuments({ thread_id: thread.id })
    await client.beta.threads.messages.delete(listed[0]?.id ?? '', { thread_id: thread.id })
    const after = await service.collections.attachments.countDocuments({ thread_id: thread.id })
    expect([before, after]).toEqual([3, 2])
    await site.close()
  })

  it('attachments are searched in their thread only, as soon as they are processed', async () => {
    const { client, assistant, upload } = await setUp()
    const fileId = await upload(Buffer.from(hours), 'hours.txt')
    const gate = Promise.withResolvers<void>()
    service.model.embeddings.waitFor(gate.promise, 0, (text) => text.includes('office is open'))
    const thread = await client.beta.threads.create({
      messages: [{ role: 'user', content: 'When?', attachments: [{ file_id: fileId, tools: [file_search] }] }],
    })
    const [storeId = ''] = thread.tool_resources?.file_search?.vector_store_ids ?? []
    expect(await client.vectorStores.retrieve(storeId)).toMatchObject({
      expires_after: { anchor: 'last_active_at', days: 7 },
      file_counts: { total: 1 },
    })
    const [message] = (await client.beta.threads.messages.list(thread.id)).data
    expect(message?.attachments).toEqual([{ file_id: fileId, tools: [file_search] }])

    service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query: 'When does it close on Fridays?' } }] })
    service.model.reply({ text: 'At three (hours.txt).' })
    const run = await client.beta.threads.runs.create(thread.id, { assistant_id: assistant.id })
    const stepsOf = async () => (await client.beta.threads.runs.steps.list(run.id, { thread_id: thread.id })).data
    await eventually('the search to wait', async () => (await stepsOf()).some(({ type }) => type === 'tool_calls'))
    expect((await client.vectorStores.retrieve(storeId)).status).toBe('in_progress')
    gate.resolve()
    const ended = await client.beta.threads.runs.poll(run.id, { thread_id: thread.id }, { pollIntervalMs })
    expect(ended.status).toBe('completed')
    const [answer] = (await client.beta.threads.messages.list(thread.id)).data
    expect(answer?.content).toMatchObject([
      { type: 'text', text: { annotations: [{ type: 'file_citation', file_citation: { file_id: fileId } }] } },
    ])

    const second = await upload(Buffer.from('Another text about closing.'), 'more.txt')
    await client.beta.threads.messages.create(thread.id, {
      role: 'user',
      content: 'And now?',
      attachments: [{ file_id: second, tools: [file_search] }],
    })
    expect(await client.beta.threads.retrieve(thread.id)).toMatchObject({
      tool_resources: { file_search: { vector_store_ids: [storeId] } },
    })
    expect((await client.vectorStores.retrieve(storeId)).file_counts.total).toBe(2)

    service.model.reply({ text: 'I know no files.' })
    await client.beta.threads.createAndRunPoll(
      { assistant_id: assistant.id, thread: { messages: [{ role: 'user', content: 'When?' }] } },
      { pollIntervalMs },
    )
    expect(asked()?.tools).toBeUndefined()
  })

  it('tool resources of threads and of runs are searched', async () => {
    const { client, assistant, upload } = await setUp()
    const fileId = await upload(Buffer.from(hours), 'hours.txt')
    const own = await client.beta.threads.create({
      tool_resources: { file_search: { vector_stores: [{ file_ids: [fileId], metadata: { of: 'thread' } }] } },
    })
    const [ownId = ''] = own.tool_resources?.file_search?.vector_store_ids ?? []
    expect(await client.vectorStores.retrieve(ownId)).toMatchObject({ metadata: { of: 'thread' } })
    await eventually('the file', async () => (await client.vectorStores.retrieve(ownId)).status === 'completed')

    const thread = await client.beta.threads.create()
    expect(thread.tool_resources).toBeNull()
    const tool_resources = { file_search: { vector_store_ids: [ownId] } }
    const updated = await client.beta.threads.update(thread.id, { tool_resources, metadata: { a: 'b' } })
    expect(updated).toMatchObject({ tool_resources, metadata: { a: 'b' } })

    const answers = () => {
      service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query: 'Fridays' } }] })
      service.model.reply({ text: 'At three (hours.txt).' })
    }
    answers()
    await client.beta.threads.runs.createAndPoll(
      thread.id,
      { assistant_id: assistant.id, additional_messages: [{ role: 'user', content: 'When?' }] },
      { pollIntervalMs },
    )
    expect(asked()?.messages.at(-1)?.content).toContain('closes at three')
    for (const place of ['thread', 'run']) {
      answers()
      const ended = await client.beta.threads.createAndRunPoll(
        {
          assistant_id: assistant.id,
          thread: {
            messages: [{ role: 'user', content: 'When?' }],
            ...(place === 'thread' ? { tool_resources } : {}),
          },
          ...(place === 'run' ? { tool_resources } : {}),
        },
        { pollIntervalMs },
      )
      expect([place, ended.status]).toEqual([place, 'completed'])
      expect(asked()?.messages.at(-1)?.content).toContain('closes at three')
    }
    expect(await client.beta.threads.update(thread.id, { tool_resources: null })).toMatchObject({
      tool_resources: null,
    })
  })

  it('what is wrong or of another project is refused with its member, and nothing is stored', async () => {
    const { client, owner, upload } = await setUp()
    const other = await setUp()
    const foreign = await other.upload(png, 'a.png', 'vision')
    const foreignStore = await other.client.vectorStores.create({ name: 'Theirs' })
    const text = await upload(Buffer.from(hours), 'hours.txt')
    const { id } = await client.beta.threads.create()
    const refused = async (body: object) => {
      const request = client.beta.threads.messages.create(id, { role: 'user', content: 'x', ...body } as never)
      const { status, param, code } = await refusalOf(request)
      return [status, param, code]
    }
    const image = (part: object) => ({ content: [part] })
    expect(await refused(image({ type: 'image_file', image_file: { file_id: foreign } }))).toEqual([
      404,
      null,
      'not_found',
    ])
    expect(await refused({ attachments: [{ file_id: foreign, tools: [file_search] }] })).toEqual([
      404,
      null,
      'not_found',
    ])
    expect((await refused(image({ type: 'image_file', image_file: { file_id: text } }))).slice(0, 2)).toEqual([
      400,
      'content[0].image_file.file_id',
    ])
    expect((await refused(image({ type: 'image_url', image_url: { url: 'data:,x' } }))).slice(0, 2)).toEqual([
      400,
      'content[0].image_url.url',
    ])
    expect((await refused(image({ type: 'image_url', text: 'x' }))).slice(0, 2)).toEqual([400, 'content[0].text'])
    expect((await refused(image({ type: 'image_url' }))).slice(0, 2)).toEqual([400, 'content[0].image_url'])
    expect(
      (await refused({ role: 'assistant', ...image({ type: 'image_url', image_url: { url: pngUrl } }) })).slice(0, 2),
    ).toEqual([400, 'content[0]'])
    const many = Array.from({ length: 33 }, () => ({ type: 'image_url', image_url: { url: pngUrl } }))
    expect((await refused({ content: many }))[0]).toBe(400)
    const tool_resources = { file_search: { vector_store_ids: [foreignStore.id] } }
    expect(await refusalOf(client.beta.threads.create({ tool_resources }))).toBeInstanceOf(OpenAI.NotFoundError)
    expect(await refusalOf(client.beta.threads.update(id, { tool_resources }))).toBeInstanceOf(OpenAI.NotFoundError)
    expect((await client.beta.threads.messages.list(id)).data).toEqual([])
    expect(await service.collections.attachments.countDocuments({ user_id: owner.userId })).toBe(0)
    expect((await client.vectorStores.list()).data).toEqual([])
  })
})
