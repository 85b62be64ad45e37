import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { newPublicAssistant } from './public-assistant.ts'

describe('the assistants API', () => {
  const service = useSharedService()
  let assistant: Awaited<ReturnType<typeof newPublicAssistant>>
  let client: OpenAI

  beforeEach(async () => {
    assistant = await newPublicAssistant(service, {
      config: {
        'type==agent/model': 'some-model',
        'type==agent/description': 'Helps',
        'type==agent/starters': ['How?'],
        'type==agent/tools': [],
      },
    })
    client = clientWith(assistant.token)
  })
  const clientWith = (apiKey: string, base = '/public/compat/v1') =>
    new OpenAI({ baseURL: `${service.url}${base}`, apiKey, maxRetries: 0 })
  const statusOf = (request: Promise<unknown>) =>
    request.then(
      () => 200,
      (error: unknown) => (error instanceof OpenAI.APIError ? error.status : error),
    )

  it('shows the assistant and model of the token, without its instructions', async () => {
    const { data } = await client.beta.assistants.list()
    expect(data).toEqual([
      expect.objectContaining({
        id: assistant.id,
        object: 'assistant',
        name: 'Public helper',
        description: 'Helps',
        model: 'some-model',
        instructions: null,
        tools: [],
      }),
    ])
    expect(await client.beta.assistants.retrieve(assistant.id)).toEqual(data[0])
    expect(await clientWith(assistant.token, '/public/v1').beta.assistants.retrieve(assistant.id)).toEqual(data[0])
    expect(JSON.stringify(data)).not.toContain('The owner says')
    const other = await newPublicAssistant(service)
    expect(await statusOf(client.beta.assistants.retrieve(other.id))).toBe(404)
    expect(await statusOf(clientWith('wrong').beta.assistants.list())).toBe(401)

    const models = await client.models.list()
    expect(models.data).toEqual([expect.objectContaining({ id: assistant.id, object: 'model' })])
    expect(await client.models.retrieve(assistant.id)).toMatchObject({ object: 'model' })
    const config = await apiClient(service.url, assistant.token).get(
      `/public/compat/v1/assistants/${assistant.id}/config`,
    )
    expect(config).toMatchObject({
      token: assistant.token,
      base_url: expect.stringMatching(/\/public\/compat\/v1$/),
      starters: ['How?'],
    })
  })

  it('stores threads with their messages and metadata', async () => {
    const thread = await client.beta.threads.create({
      metadata: { purpose: 'test' },
      messages: [
        { role: 'user', content: 'One', metadata: { n: '1' } },
        { role: 'assistant', content: 'Two' },
      ],
    })
    expect(thread).toMatchObject({ object: 'thread', metadata: { purpose: 'test' } })
    expect(await client.beta.threads.retrieve(thread.id)).toEqual(thread)
    const third = await client.beta.threads.messages.create(thread.id, {
      role: 'user',
      content: [{ type: 'text', text: 'Three' }],
      metadata: { n: '3' },
    })
    expect(third).toMatchObject({ object: 'thread.message', role: 'user', thread_id: thread.id, metadata: { n: '3' } })
    expect(await client.beta.threads.messages.retrieve(third.id, { thread_id: thread.id })).toEqual(third)
    await client.beta.threads.update(thread.id, { metadata: { purpose: 'changed' } })
    expect((await client.beta.threads.retrieve(thread.id)).metadata).toEqual({ purpose: 'changed' })

    const said = (page: { data: OpenAI.Beta.Threads.Message[] }) =>
      page.data.map(({ content: [block] }) => (block?.type === 'text' ? block.text.value : ''))
    const list = (query: OpenAI.Beta.Threads.MessageListParams) => client.beta.threads.messages.list(thread.id, query)
    const all = await list({ order: 'asc' })
    expect(said(all)).toEqual(['One', 'Two', 'Three'])
    expect(all.data.map(({ metadata }) => metadata)).toEqual([{ n: '1' }, {}, { n: '3' }])
    expect(said(await list({}))).toEqual(['Three', 'Two', 'One'])
    const [one = '', two = '', three = ''] = all.data.map(({ id }) => id)
    const page = await list({ order: 'asc', limit: 2 })
    expect([said(page), page.has_more]).toEqual([['One', 'Two'], true])
    expect(said(await list({ order: 'asc', after: two }))).toEqual(['Three'])
    expect(said(await list({ order: 'asc', before: three, limit: 1 }))).toEqual(['Two'])
    expect(said(await list({ order: 'desc', after: three, before: one }))).toEqual(['Two'])
    expect(await statusOf(list({ after: 'unknown' }))).toBe(404)
    expect(await statusOf(list({ limit: 101 }))).toBe(422)
    // The client's own paging finds each once.
    expect((await Array.fromAsync(list({ limit: 1, order: 'asc' }))).map(({ id }) => id)).toEqual([one, two, three])
  })

  it('separates threads by assistant, and from those of users', async () => {
    const other = await newPublicAssistant(service)
    const { id } = await clientWith(other.token).beta.threads.create({})
    const { thread_id: owned } = await assistant.owner.post('/threads/', { assistant_id: assistant.id })
    for (const threadId of [id, owned, 'none']) {
      const params = { thread_id: threadId }
      expect(await statusOf(client.beta.threads.retrieve(threadId))).toBe(404)
      expect(await statusOf(client.beta.threads.messages.list(threadId))).toBe(404)
      expect(await statusOf(client.beta.threads.messages.create(threadId, { role: 'user', content: 'x' }))).toBe(404)
      expect(await statusOf(client.beta.threads.runs.create(threadId, { assistant_id: assistant.id }))).toBe(404)
      expect(await statusOf(client.beta.threads.runs.list(threadId))).toBe(404)
      expect(await statusOf(client.beta.threads.runs.retrieve('run', params))).toBe(404)
    }
    const mine = await client.beta.threads.create({})
    expect(await statusOf(client.beta.threads.runs.create(mine.id, { assistant_id: other.id }))).toBe(404)
  })

  it('executes runs: createAndPoll, usage, instructions, additional messages, steps and lists', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 3 }
    service.model.reply({ text: 'The answer', usage })
    const thread = await client.beta.threads.create({ messages: [{ role: 'user', content: 'Old' }] })
    const run = await client.beta.threads.runs.createAndPoll(
      thread.id,
      {
        assistant_id: assistant.id,
        instructions: 'Rhyme.',
        additional_instructions: 'Whisper.',
        additional_messages: [{ role: 'user', content: 'New' }],
        metadata: { job: '7' },
        temperature: 0.5,
      },
      { pollIntervalMs: 50 },
    )
    expect(run).toMatchObject({
      object: 'thread.run',
      status: 'completed',
      thread_id: thread.id,
      assistant_id: assistant.id,
      model: 'some-model',
      instructions: 'Rhyme.\n\nWhisper.',
      metadata: { job: '7' },
      temperature: 0.5,
      usage: { ...usage, total_tokens: 12 },
    })
    expect(service.model.requests.at(-1)?.body.messages).toEqual([
      { role: 'system', content: 'The owner says: be brief.\n\nRhyme.\n\nWhisper.' },
      { role: 'user', content: 'Old' },
      { role: 'user', content: 'New' },
    ])
    const { data } = await client.beta.threads.messages.list(thread.id, { run_id: run.id })
    expect(data).toEqual([
      expect.objectContaining({ role: 'assistant', run_id: run.id, assistant_id: assistant.id, status: 'completed' }),
    ])
    const steps = await client.beta.threads.runs.steps.list(run.id, { thread_id: thread.id })
    expect(steps.data).toEqual([
      expect.objectContaining({
        object: 'thread.run.step',
        type: 'message_creation',
        status: 'completed',
        step_details: { type: 'message_creation', message_creation: { message_id: data[0]?.id } },
      }),
    ])
    const step = { thread_id: thread.id, run_id: run.id }
    expect(await client.beta.threads.runs.steps.retrieve(steps.data[0]?.id ?? '', step)).toEqual(steps.data[0])

    service.model.reply({ text: 'Again' })
    const second = await client.beta.threads.createAndRunPoll(
      { assistant_id: assistant.id, thread: { messages: [{ role: 'user', content: 'Hi' }] } },
      { pollIntervalMs: 50 },
    )
    expect(second.status).toBe('completed')
    expect(second.thread_id).not.toBe(thread.id)

    service.model.reply({ text: 'Third' })
    const third = await client.beta.threads.runs.createAndPoll(
      thread.id,
      { assistant_id: assistant.id },
      { pollIntervalMs: 50 },
    )
    const ids = async (query: OpenAI.Beta.Threads.RunListParams) =>
      (await client.beta.threads.runs.list(thread.id, query)).data.map(({ id }) => id)
    expect(await ids({})).toEqual([third.id, run.id])
    expect(await ids({ order: 'asc', after: run.id })).toEqual([third.id])
    expect(await ids({ before: run.id })).toEqual([third.id])
    expect(await ids({ limit: 1, order: 'asc' })).toEqual([run.id])
  })

  it('streams events that the stream helper of the client understands', async () => {
    service.model.reply({ text: ['Grow', 'ing ', 'text'], usage: { prompt_tokens: 1, completion_tokens: 1 } })
    const thread = await client.beta.threads.create({ messages: [{ role: 'user', content: 'Go' }] })
    const stream = client.beta.threads.runs.stream(thread.id, { assistant_id: assistant.id })
    const names: string[] = []
    let text = ''
    stream.on('event', ({ event }) => names.push(event))
    stream.on('textDelta', ({ value }) => (text += value ?? ''))
    const run = await stream.finalRun()
    expect(run).toMatchObject({ status: 'completed', usage: { total_tokens: 2 } })
    expect(text).toBe('Growing text')
    const [message] = await stream.finalMessages()
    expect(message?.content).toEqual([{ type: 'text', text: { value: 'Growing text', annotations: [] } }])
    expect(names.filter((name, index) => name !== names[index - 1])).toEqual([
      'thread.run.created',
      'thread.run.queued',
      'thread.run.in_progress',
      'thread.run.step.created',
      'thread.run.step.in_progress',
      'thread.message.created',
      'thread.message.in_progress',
      'thread.message.delta',
      'thread.message.completed',
      'thread.run.step.completed',
      'thread.run.completed',
    ])
    const stored = await client.beta.threads.messages.list(thread.id, { run_id: run.id })
    expect(stored.data[0]?.id).toBe(message?.id)

    const raw = apiClient(service.url, assistant.token)
    service.model.reply({ text: 'Raw' })
    const response = await raw.fetch('POST', `/public/v1/threads/${thread.id}/runs`, {
      assistant_id: assistant.id,
      stream: true,
    })
    expect((await response.text()).trimEnd().split('\n').slice(-2)).toEqual(['event: done', 'data: [DONE]'])
  })

  it('shows tool calls as steps, and both texts as messages', async () => {
    const withTools = await newPublicAssistant(service, {
      config: { 'type==agent/tools': [{ type: 'http_request', config: { allowed_hosts: ['nowhere.test'] } }] },
    })
    service.model.reply({
      text: 'Let me look.',
      toolCalls: [{ name: 'http_request', arguments: { method: 'GET', url: 'http://elsewhere.test/' } }],
    })
    service.model.reply({ text: 'It is closed.' })
    const tooled = clientWith(withTools.token)
    const stream = tooled.beta.threads.createAndRunStream({
      assistant_id: withTools.id,
      thread: { messages: [{ role: 'user', content: 'Look' }] },
    })
    const run = await stream.finalRun()
    const steps = await stream.finalRunSteps()
    expect(steps.map(({ type, status }) => [type, status])).toEqual([
      ['message_creation', 'completed'],
      ['tool_calls', 'completed'],
      ['message_creation', 'completed'],
    ])
    expect((await stream.finalMessages()).length).toBe(2)
    const listed = await tooled.beta.threads.runs.steps.list(run.id, { thread_id: run.thread_id, order: 'asc' })
    expect(listed.data.map(({ id }) => id)).toEqual(steps.map(({ id }) => id))
    // A stream numbers the steps of a model that begins again; lists have the last.
    const tools = listed.data.find(({ type }) => type === 'tool_calls')
    const inRun = { thread_id: run.thread_id, run_id: run.id }
    expect(await tooled.beta.threads.runs.steps.retrieve(`${tools?.id}-2`, inRun)).toEqual(tools)
    const [details] = listed.data.flatMap(({ step_details: step }) =>
      step.type === 'tool_calls' ? step.tool_calls : [],
    )
    expect(details).toMatchObject({ type: 'function', function: { name: 'http_request', output: expect.any(String) } })

    service.model.reply({
      text: 'Let me look.',
      toolCalls: [{ name: 'http_request', arguments: { method: 'GET', url: 'http://elsewhere.test/' } }],
      usage: { prompt_tokens: 5, completion_tokens: 5 },
    })
    service.model.reply({ text: 'It is closed.', usage: { prompt_tokens: 7, completion_tokens: 2 } })
    const completion = await tooled.chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'Look' }],
    })
    expect(completion.choices[0]?.message).toEqual({
      role: 'assistant',
      content: 'Let me look.\n\nIt is closed.',
      refusal: null,
    })
    expect(completion.usage).toEqual({ prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 })
  })

  it('ends failed and cancelled runs with their status', async () => {
    const thread = await client.beta.threads.create({ messages: [{ role: 'user', content: 'Go' }] })
    service.model.reply({ status: 400, errorMessage: 'no' })
    const failing = client.beta.threads.runs.stream(thread.id, { assistant_id: assistant.id })
    expect(await failing.finalRun()).toMatchObject({ status: 'failed', last_error: { code: 'invalid_prompt' } })

    const never = new Promise<never>(() => {})
    service.model.reply({ text: ['Half', never] })
    const stream = client.beta.threads.runs.stream(thread.id, { assistant_id: assistant.id })
    const half = Promise.withResolvers<void>()
    stream.on('textDelta', () => half.resolve())
    await half.promise
    const running = stream.currentRun()
    expect(running?.status).toBe('in_progress')
    const runId = running?.id ?? ''
    const cancelled = await client.beta.threads.runs.cancel(runId, { thread_id: thread.id })
    expect(cancelled.status).toBe('cancelled')
    expect(await stream.finalRun()).toMatchObject({ status: 'cancelled', id: runId })
    expect((await stream.finalMessages())[0]).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'run_cancelled' },
    })
  })
})
