import { randomUUID } from 'node:crypto'
import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { readRun } from '../runs/support.ts'
import { eventually } from '../support/eventually.ts'
import { everythingIn } from '../support/everything-in.ts'
import { useSharedService } from '../support/shared-service.ts'
import { rawDatabase, rawRedis } from '../support/stores.ts'
import type { TestUser } from '../support/users.ts'
import { refusalOf, v1Client } from '../v1/v1-client.ts'

const pollIntervalMs = 50
const look = (name = 'look') =>
  ({ name, parameters: { type: 'object', properties: { at: { type: 'string' } } } }) as const

async function runOn(owner: TestUser, place: object, content: string): Promise<void> {
  const run = await readRun(
    await owner.fetch('POST', '/runs/stream', { ...place, input: [{ type: 'human', content }] }),
  )
  expect(run.end).toBe('end')
}

describe('what was said', () => {
  const service = useSharedService()
  const newSecret = () => `secret${randomUUID().replaceAll('-', '')}`

  /** Where the database, or Redis, says it. */
  async function placesOf(secret: string): Promise<string[]> {
    const records = [...(await rawDatabase(service)), ...(await rawRedis(service))]
    return records.map((record) => everythingIn(record)).filter((text) => text.includes(secret))
  }
  const isKnown = async (secret: string) => expect(await placesOf(secret)).not.toEqual([])
  const isGone = async (secret: string) =>
    eventually('no place to say it', async () => (await placesOf(secret)).length === 0)
  const retainedAnswers = (...subjects: string[]) =>
    service.collections.idempotencyKeys.countDocuments({ subjects: { $in: subjects }, answer: { $exists: true } })
  const keyed = () => ({ headers: { 'idempotency-key': randomUUID() } })

  it('is nowhere when its messages are deleted from a thread that stays', async () => {
    const secret = newSecret()
    const { client } = await v1Client(service)
    const assistant = await client.beta.assistants.create({
      model: 'm',
      tools: [{ type: 'function', function: look() }],
    })
    const { id } = await client.beta.threads.create({ messages: [{ role: 'user', content: 'stays' }] })
    const asked = { role: 'user', content: `asked ${secret}`, metadata: { note: secret } } as const
    const key = keyed()
    const question = await client.beta.threads.messages.create(id, asked, key)
    await client.beta.threads.messages.update(question.id, { thread_id: id, metadata: { more: secret } })
    service.model.reply({ text: `I look ${secret}`, toolCalls: [{ id: 'c', name: 'look', arguments: { at: secret } }] })
    const run = await client.beta.threads.runs.createAndPoll(
      id,
      { assistant_id: assistant.id, additional_messages: [{ role: 'user', content: `brought ${secret}` }] },
      { pollIntervalMs },
    )
    const open = await client.beta.threads.messages.list(id)
    const refused = await refusalOf(client.beta.threads.messages.delete(open.data[0]?.id ?? '', { thread_id: id }))
    expect(refused.status).toBe(409)
    service.model.reply({ text: `seen ${secret}` })
    await client.beta.threads.runs.submitToolOutputsAndPoll(
      run.id,
      { thread_id: id, tool_outputs: [{ tool_call_id: 'c', output: `found ${secret}` }] },
      { pollIntervalMs },
    )
    await isKnown(secret)
    expect((await rawRedis(service)).some((value) => everythingIn(value).includes(secret))).toBe(true)
    expect(await retainedAnswers(id)).toBeGreaterThan(0)
    const messages = await Array.fromAsync(client.beta.threads.messages.list(id))
    for (const message of messages)
      if (JSON.stringify(message).includes(secret))
        await client.beta.threads.messages.delete(message.id, { thread_id: id })
    expect(await placesOf(secret)).toEqual([])
    expect(await retainedAnswers(id)).toBe(0)
    const left = await Array.fromAsync(client.beta.threads.messages.list(id))
    expect(left).toMatchObject([{ content: [{ text: { value: 'stays' } }] }])
    // The repeated request finds that its message is gone, and does not add it again.
    expect((await refusalOf(client.beta.threads.messages.create(id, asked, key))).status).toBe(404)
    expect(await placesOf(secret)).toEqual([])
  })

  it('stays deleted whatever changes the message beside the deletion', async () => {
    const { client } = await v1Client(service)
    const { id } = await client.beta.threads.create()
    const secrets: string[] = []
    for (let round = 0; round < 12; round++) {
      const secret = newSecret()
      secrets.push(secret)
      const { id: messageId } = await client.beta.threads.messages.create(id, { role: 'user', content: secret })
      const place = { thread_id: id }
      const change = () =>
        client.beta.threads.messages
          .update(messageId, { ...place, metadata: { round: String(round) } })
          .catch(() => null)
      await Promise.all([
        change(),
        client.beta.threads.messages.delete(messageId, place),
        change(),
        client.beta.threads.messages.delete(messageId, place).catch(() => null),
        change(),
      ])
    }
    const texts = (await rawDatabase(service)).map((record) => everythingIn(record))
    expect(secrets.filter((secret) => texts.some((text) => text.includes(secret)))).toEqual([])
    expect((await client.beta.threads.messages.list(id)).data).toEqual([])
  })

  it('stays deleted when two items of one entry are deleted at once, and an item is not brought back by its id', async () => {
    const { client } = await v1Client(service)
    const secrets = Array.from({ length: 6 }, newSecret)
    const { id } = await client.conversations.create({
      items: secrets.map((content) => ({ role: 'user' as const, content })),
    })
    const items = await Array.fromAsync(client.conversations.items.list(id))
    await Promise.all(items.map((item) => client.conversations.items.delete(item.id ?? '', { conversation_id: id })))
    for (const secret of secrets) expect(await placesOf(secret)).toEqual([])
  })

  it('is nowhere when the items of a conversation are deleted', async () => {
    const secret = newSecret()
    const { client } = await v1Client(service)
    const created = {
      items: [
        { role: 'user' as const, content: secret },
        { type: 'function_call' as const, call_id: 'c1', name: 'look', arguments: JSON.stringify({ at: secret }) },
        { type: 'function_call_output' as const, call_id: 'c1', output: secret },
      ],
    }
    const { id } = await client.conversations.create(created, keyed())
    service.model.reply({ text: secret, toolCalls: [{ id: 'c2', name: 'look', arguments: { at: secret } }] })
    const asked = {
      model: 'scripted',
      input: `again ${secret}`,
      conversation: id,
      tools: [{ type: 'function' as const, strict: null, ...look() }],
    }
    await client.responses.create(asked, keyed())
    await isKnown(secret)
    const items = await Array.fromAsync(client.conversations.items.list(id))
    expect(items).toHaveLength(6)
    for (const item of items) await client.conversations.items.delete(item.id ?? '', { conversation_id: id })
    expect(await placesOf(secret)).toEqual([])
    expect(await retainedAnswers(id.slice('conv_'.length))).toBe(0)
  })

  it('is nowhere when the newest responses of a chain are deleted, in either order', async () => {
    const { client } = await v1Client(service)
    const [kept, middle, newest] = [newSecret(), newSecret(), newSecret()]
    const chain: OpenAI.Responses.Response[] = []
    const deleteInOrder = [middle, newest]
    for (const order of [deleteInOrder, deleteInOrder.toReversed()]) {
      chain.length = 0
      for (const secret of [kept, middle, newest]) {
        service.model.reply({ text: `answer ${secret}` })
        chain.push(
          await client.responses.create(
            {
              model: 'scripted',
              input: `question ${secret}`,
              instructions: `instructions ${secret}`,
              metadata: { note: secret },
              previous_response_id: chain.at(-1)?.id ?? null,
            },
            keyed(),
          ),
        )
      }
      for (const secret of order) {
        expect(await placesOf(secret)).not.toEqual([])
        const { id = '' } = chain[[kept, middle, newest].indexOf(secret)] ?? {}
        await client.responses.delete(id)
        expect((await refusalOf(client.responses.retrieve(id))).status).toBe(404)
      }
      expect([await placesOf(middle), await placesOf(newest)]).toEqual([[], []])
      const first = await client.responses.retrieve(chain[0]?.id ?? '')
      expect(first.output_text).toBe(`answer ${kept}`)
      // The conversation goes on from what is left.
      service.model.reply({ text: 'Fine' })
      await client.responses.create({ model: 'scripted', input: 'And now?', previous_response_id: first.id })
      expect(service.model.requests.at(-1)?.body.messages.map(({ content }) => content)).toEqual([
        `question ${kept}`,
        `answer ${kept}`,
        'And now?',
      ])
    }
  })

  it('is nowhere after an answer that is not to be stored, not even as a fact', async () => {
    const { client, owner } = await v1Client(service)
    const tools = [{ type: 'memory', name: 'memory' }]
    const assistant = await owner.post('/assistants/', { name: 'A', config: { 'type==agent/tools': tools } })
    const model = String(assistant.assistant_id)
    const save = (secret: string) => {
      service.model.reply({
        toolCalls: [{ id: 'm', name: 'memory', arguments: { operation: 'save', text: `The word is ${secret}.` } }],
      })
      service.model.reply({ text: `I know ${secret}` })
    }
    const secrets = Array.from({ length: 4 }, newSecret)
    const [chat = '', streamed = '', response = '', temporary = ''] = secrets
    save(chat)
    await client.chat.completions.create({ model, messages: [{ role: 'user', content: chat }], store: false })
    expect(JSON.stringify(service.model.requests.at(-1)?.body.messages)).toContain('this conversation is not kept')
    save(streamed)
    const stream = await client.chat.completions.create(
      { model, messages: [{ role: 'user', content: streamed }], store: false, stream: true },
      keyed(),
    )
    for await (const _chunk of stream) continue
    save(response)
    await client.responses.create({ model, input: response, store: false, metadata: { note: response } }, keyed())
    const thread = await owner.post('/threads/', { name: temporary, temporary: true })
    save(temporary)
    await runOn(owner, { assistant_id: model, thread_id: thread.thread_id }, temporary)
    await isKnown(temporary)
    await owner.call('DELETE', `/threads/${thread.thread_id}`)
    for (const secret of secrets) await isGone(secret)
    expect(await owner.get('/memory/')).toEqual([])
  })

  it('is nowhere when what holds it is deleted as a whole', async () => {
    const { client, owner } = await v1Client(service)
    const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'A', config: {} })
    const file = (secret: string) => new File([`A text that says ${secret}.`], 'a.txt', { type: 'text/plain' })
    /** Each plants a secret by an interface, and returns the deletion. */
    const interfaces: Record<string, (secret: string) => Promise<() => Promise<unknown>>> = {
      async 'stored completions'(secret) {
        for (const text of [secret, `other ${secret}`]) service.model.reply({ text })
        const { id } = await client.chat.completions.create(
          {
            model: 'scripted',
            n: 2,
            messages: [{ role: 'user', content: secret }],
            metadata: { note: secret },
            store: true,
          },
          keyed(),
        )
        return () => client.chat.completions.delete(id)
      },
      async 'native runs'(secret) {
        const metadata = { note: secret }
        const thread = await owner.post('/threads/', { name: secret, metadata, tags: [secret.slice(0, 30)] })
        const id = String(thread.thread_id)
        await owner.post(`/threads/${id}/state`, { values: [{ type: 'human', content: secret }] })
        service.model.reply({ text: secret })
        await runOn(owner, { assistant_id: assistantId, thread_id: id }, secret)
        await owner.post(`/threads/${id}/share`, {})
        await owner.put(`/threads/${id}/documents/d`, { name: secret.slice(0, 90), content: secret, base: 0 })
        const run = await service.collections.runs.findOne({ thread_id: id }).lean()
        await owner.post('/runs/feedback', { run_id: run?._id, key: 'k', comment: secret })
        return () => owner.call('DELETE', `/threads/${id}`)
      },
      async facts(secret) {
        const { memory_id: id } = await owner.post('/memory/', { text: secret })
        return () => owner.call('DELETE', `/memory/${id}`)
      },
      async prompts(secret) {
        const { prompt_id: id } = await owner.post('/user/prompts', { name: 'kept', text: secret })
        return () => owner.call('DELETE', `/user/prompts/${id}`)
      },
      async schedules(secret) {
        const { schedule_id: id } = await owner.post('/schedules/', {
          assistant_id: assistantId,
          input: [{ type: 'human', content: secret }],
          note: secret,
          cron: '0 0 1 1 *',
        })
        return () => owner.call('DELETE', `/schedules/${id}`)
      },
      async 'files of a project, in a store'(secret) {
        const { id } = await client.files.create({ file: file(secret), purpose: 'assistants' })
        const store = await client.vectorStores.create({ name: secret })
        await client.vectorStores.files.createAndPoll(
          store.id,
          { file_id: id, attributes: { note: secret } },
          { pollIntervalMs },
        )
        return async () => {
          await client.files.delete(id)
          await client.vectorStores.delete(store.id)
        }
      },
      async 'an assistant with a file'(secret) {
        const { assistant_id: id } = await owner.post('/assistants/', { name: secret, config: { note: secret } })
        const form = new FormData()
        form.set('files', file(secret))
        await owner.post(`/assistants/${id}/files`, form)
        return () => owner.call('DELETE', `/assistants/${id}`)
      },
      async 'a project with a thread'(secret) {
        const { project_id: id } = await owner.post('/projects/', { name: secret.slice(0, 90), description: secret })
        return () => owner.call('DELETE', `/projects/${id}?confirm=true`)
      },
    }
    for (const [name, plant] of Object.entries(interfaces)) {
      const secret = newSecret()
      const remove = await plant(secret)
      expect(await placesOf(secret), name).not.toEqual([])
      await remove()
      await eventually(`nothing left of ${name}`, async () => (await placesOf(secret)).length === 0)
    }
  })
})
