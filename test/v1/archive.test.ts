import { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { archiveOf, importInto } from '../support/archives.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { v1Client } from './v1-client.ts'

const text = 'The office is open from nine to five. On Fridays the office closes at three.'

describe('the archive of an account', () => {
  const service = useSharedService({
    respond: ({ body }) => ({ text: `Heard ${body.messages.filter(({ role }) => role === 'user').length}.` }),
  })

  it('takes files of projects and vector stores into another account', async () => {
    const { client, owner } = await v1Client(service)
    const { id: fileId } = await client.files.create({
      file: await toFile(Buffer.from(text), 'hours.txt'),
      purpose: 'user_data',
    })
    const store = await client.vectorStores.create({
      name: 'Papers',
      metadata: { team: 'blue' },
      expires_after: { anchor: 'last_active_at', days: 9 },
    })
    const chunking_strategy = {
      type: 'static',
      static: { max_chunk_size_tokens: 800, chunk_overlap_tokens: 400 },
    } as const
    const attributes = { year: 2026, kind: 'hours' }
    await client.vectorStores.files.createAndPoll(
      store.id,
      { file_id: fileId, attributes, chunking_strategy },
      { pollIntervalMs: 50 },
    )
    await client.beta.assistants.create({
      model: 'm',
      name: 'Searcher',
      tools: [{ type: 'file_search' }],
      tool_resources: { file_search: { vector_store_ids: [store.id] } },
    })

    const target = await insertUser(service)
    const archive = await archiveOf(service, owner)
    const { body: report } = await importInto(service, target, archive)
    expect(report).toMatchObject({
      imported: { vector_stores: 1, files: 1, vector_store_files: 1, assistants: 1 },
      refused: { vector_stores: 0, files: 0, vector_store_files: 0, assistants: 0 },
      problems: [],
    })
    const { body: projects } = await target.call('GET', '/projects/')
    const imported = projects.find(({ name }: { name: string }) => name.includes('imported'))
    const { client: second } = await v1Client(service, { ...target, projectId: imported.project_id })
    const [file] = (await second.files.list()).data
    expect(file).toMatchObject({ filename: 'hours.txt', purpose: 'user_data', bytes: text.length })
    expect(await (await second.files.content(file?.id ?? '')).text()).toBe(text)
    const [copy] = (await second.vectorStores.list()).data
    expect(copy).toMatchObject({ name: 'Papers', metadata: { team: 'blue' }, expires_after: { days: 9 } })
    const copyId = copy?.id ?? ''
    await eventually('the ingestion', async () => (await second.vectorStores.retrieve(copyId)).status === 'completed')
    const filters = { type: 'eq', key: 'kind', value: 'hours' } as const
    expect((await second.vectorStores.search(copyId, { query: 'Fridays', filters })).data).toMatchObject([
      { file_id: file?.id, attributes },
    ])
    const entry = await second.vectorStores.files.retrieve(file?.id ?? '', { vector_store_id: copyId })
    expect(entry.chunking_strategy).toEqual(chunking_strategy)
    const [assistant] = (await second.beta.assistants.list()).data
    expect(assistant?.tool_resources).toEqual({ file_search: { vector_store_ids: [copyId] } })

    const { body: again } = await importInto(service, target, archive)
    expect(again).toMatchObject({ existing: { vector_stores: 1, files: 1, vector_store_files: 1, assistants: 1 } })
    expect((await second.files.list()).data).toHaveLength(1)
  })

  /** The official client of the project that an import has made. */
  async function importedClient(target: Awaited<ReturnType<typeof insertUser>>) {
    const { body: projects } = await target.call('GET', '/projects/')
    const imported = projects.find(({ name }: { name: string }) => name.includes('imported'))
    return (await v1Client(service, { ...target, projectId: imported.project_id })).client
  }

  /** An account with two stored completions, three responses, and a conversation. */
  async function talkative() {
    const { client, owner } = await v1Client(service)
    await owner.post('/assistants/', { name: 'Clerk', config: {} })
    const messages = [{ role: 'user' as const, content: 'One' }]
    const metadata = { team: 'blue' }
    await client.chat.completions.create({ model: 'Clerk', messages, n: 2, store: true, metadata })
    const first = await client.responses.create({ model: 'Clerk', input: 'A', metadata, instructions: 'Be short.' })
    const second = await client.responses.create({ model: 'Clerk', input: 'B', previous_response_id: first.id })
    const conversation = await client.conversations.create({
      metadata,
      items: [{ type: 'message', role: 'user', content: 'Before' }],
    })
    const third = await client.responses.create({ model: 'Clerk', input: 'C', conversation: conversation.id })
    return { client, owner, first, second, third, conversation }
  }

  it('brings stored completions, responses and conversations back as what they were', async () => {
    const source = await talkative()
    const target = await insertUser(service)
    const archive = await archiveOf(service, source.owner)
    const before = (await target.get('/auth/thread-info')).thread_counter
    const { body: report } = await importInto(service, target, archive)
    expect([report.imported.threads, report.imported.runs, report.problems]).toEqual([4, 5, []])
    const client = await importedClient(target)
    const newId = async (id: string) =>
      `resp_${(await service.collections.runs.find({ user_id: target.userId }).lean()).find(({ _id }) => _id.startsWith(id.slice(5, 18)))?._id}`

    const [completion, ...more] = (await client.chat.completions.list({ metadata: { team: 'blue' } })).data
    expect([completion?.choices.map(({ message }) => message.content), more]).toEqual([['Heard 1.', 'Heard 1.'], []])
    expect(completion).toMatchObject({ metadata: { team: 'blue' }, choices: [{ finish_reason: 'stop' }, {}] })
    expect((await client.chat.completions.messages.list(completion?.id ?? '')).data).toMatchObject([{ content: 'One' }])

    const second = await client.responses.retrieve(await newId(source.second.id))
    const first = await client.responses.retrieve(second.previous_response_id ?? '')
    expect(first).toMatchObject({ status: 'completed', metadata: { team: 'blue' }, instructions: 'Be short.' })
    expect([first.output_text, second.output_text]).toEqual(['Heard 1.', 'Heard 2.'])
    expect((await client.responses.inputItems.list(second.id)).data).toMatchObject([{ content: [{ text: 'B' }] }])
    const { id: model } = (await client.beta.assistants.list()).data[0] ?? { id: '' }
    const next = await client.responses.create({ model, input: 'D', previous_response_id: second.id })
    expect(next.output_text).toBe('Heard 3.')
    const [item] = first.output
    const referred = [{ type: 'item_reference' as const, id: item?.id ?? '' }]
    expect(
      (await client.responses.create({ model, input: [...referred, { role: 'user', content: 'E' }] })).status,
    ).toBe('completed')

    const third = await client.responses.retrieve(await newId(source.third.id))
    const { id } = third.conversation ?? { id: '' }
    expect(await client.conversations.retrieve(id)).toMatchObject({ metadata: { team: 'blue' } })
    const items = (await client.conversations.items.list(id, { order: 'asc' })).data
    const texts = items.map((one) =>
      one.type === 'message' ? one.content.map((part) => 'text' in part && part.text) : [],
    )
    expect(texts).toEqual([['Before'], ['C'], ['Heard 2.']])
    for (const one of items)
      expect(await client.conversations.items.retrieve(one.id ?? '', { conversation_id: id })).toEqual(one)
    expect((await client.responses.create({ model, input: 'F', conversation: id })).output_text).toBe('Heard 3.')

    const { body: listed } = await target.call('GET', '/threads/')
    expect(listed.threads.map(({ name }: { name: string }) => name)).toEqual([])
    expect((await target.get('/auth/thread-info')).thread_counter).toBe(before + 1)
    const { body: again } = await importInto(service, target, archive)
    expect([again.existing.threads, again.imported.messages, again.refused.messages]).toEqual([4, 0, 0])
  })

  it('keeps to the room of the account for what takes no place of the thread quota', async () => {
    const { owner } = await talkative()
    const target = await insertUser(service)
    await service.collections.users.updateOne({ _id: target.userId }, { $set: { storage_max_mb: 0 } })
    const { body: report } = await importInto(service, target, await archiveOf(service, owner))
    expect([report.imported.threads, report.refused.messages]).toEqual([4, 8])
    expect(report.problems[0]).toMatchObject({ kind: 'messages', reason: expect.stringMatching(/kept answers/) })
  })
})
