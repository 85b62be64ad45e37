import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { refusalOf, v1Client } from './v1-client.ts'

const weather = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
} as const
const weatherCalls = (...cities: string[]) => ({
  toolCalls: cities.map((city, index) => ({ id: `w${index}`, name: 'get_weather', arguments: { city } })),
})
const pollIntervalMs = 50

describe('threads and messages of /v1', () => {
  const service = useSharedService()

  it('are created, read, changed and deleted, and are the threads of the native API', async () => {
    const { client, owner } = await v1Client(service)
    const thread = await client.beta.threads.create({
      messages: [
        { role: 'user', content: 'one', metadata: { place: 'first' } },
        { role: 'assistant', content: [{ type: 'text', text: 'two' }] },
      ],
      metadata: { topic: 'counting' },
    })
    expect(thread).toMatchObject({ object: 'thread', metadata: { topic: 'counting' } })
    expect((await owner.get(`/threads/${thread.id}/state`)).values.messages).toHaveLength(2)
    expect(await client.beta.threads.update(thread.id, { metadata: { topic: 'new' } })).toMatchObject({
      metadata: { topic: 'new' },
    })
    expect((await client.beta.threads.retrieve(thread.id)).metadata).toEqual({ topic: 'new' })
    const { client: stranger } = await v1Client(service)
    expect(await refusalOf(stranger.beta.threads.retrieve(thread.id))).toMatchObject({ status: 404 })
    expect(await client.beta.threads.delete(thread.id)).toMatchObject({ id: thread.id, object: 'thread.deleted' })
    await eventually(
      'the deletion',
      async () => (await refusalOf(client.beta.threads.retrieve(thread.id))).status === 404,
    )
  })

  it('messages are added, listed in both orders, changed and deleted with all that they say', async () => {
    const { client, owner } = await v1Client(service)
    const { id } = await client.beta.threads.create()
    const first = await client.beta.threads.messages.create(id, { role: 'user', content: 'SECRETWORD' })
    const second = await client.beta.threads.messages.create(id, { role: 'user', content: 'kept' })
    expect(first).toMatchObject({ object: 'thread.message', role: 'user', status: 'completed', attachments: [] })
    const page = await client.beta.threads.messages.list(id, { order: 'asc', limit: 1 })
    expect(page.data.map((message) => message.id)).toEqual([first.id])
    expect(page.hasNextPage()).toBe(true)
    const all: string[] = []
    for await (const message of client.beta.threads.messages.list(id, { limit: 1 })) all.push(message.id)
    expect(all).toEqual([second.id, first.id])
    const changed = await client.beta.threads.messages.update(second.id, { thread_id: id, metadata: { a: 'b' } })
    expect(changed.metadata).toEqual({ a: 'b' })
    expect((await client.beta.threads.messages.retrieve(second.id, { thread_id: id })).metadata).toEqual({ a: 'b' })

    expect(await client.beta.threads.messages.delete(first.id, { thread_id: id })).toEqual({
      id: first.id,
      object: 'thread.message.deleted',
      deleted: true,
    })
    expect((await client.beta.threads.messages.list(id)).data.map((message) => message.id)).toEqual([second.id])
    expect(await refusalOf(client.beta.threads.messages.retrieve(first.id, { thread_id: id }))).toMatchObject({
      status: 404,
    })
    const entries = await service.collections.checkpoints.find({ thread_id: id }).lean()
    expect(entries.length).toBeGreaterThan(0)
    expect(JSON.stringify(entries)).not.toContain('SECRETWORD')
    const assistant = await client.beta.assistants.create({ model: 'm' })
    const asked = service.model.reply({ text: 'Yes.' })
    await client.beta.threads.runs.createAndPoll(id, { assistant_id: assistant.id }, { pollIntervalMs })
    expect((await asked.arrived).body.messages).toEqual([{ role: 'user', content: 'kept' }])
    expect(owner.projectId).toBeTruthy()
  })

  it('refuse what would change the answer, with the member', async () => {
    const { client } = await v1Client(service)
    const image = { type: 'image_url', image_url: { url: 'ftp://example.com/a.png' } } as const
    expect(
      await refusalOf(client.beta.threads.create({ messages: [{ role: 'user', content: [image] }] })),
    ).toMatchObject({ status: 400, param: 'messages[0].content[0].image_url.url' })
    const resources = { code_interpreter: { file_ids: ['f'] } }
    expect(await refusalOf(client.beta.threads.create({ tool_resources: resources }))).toMatchObject({ status: 404 })
    const { id } = await client.beta.threads.create()
    const attachments = [{ file_id: 'f', tools: [{ type: 'code_interpreter' as const }] }]
    expect(
      await refusalOf(client.beta.threads.messages.create(id, { role: 'user', content: 'x', attachments })),
    ).toMatchObject({ status: 404 })
    const metadata = { long: 'x'.repeat(513) }
    expect(await refusalOf(client.beta.threads.update(id, { metadata }))).toMatchObject({ status: 400 })
  })
})

describe('runs of /v1', () => {
  const service = useSharedService()

  async function setUp(more: Partial<OpenAI.Beta.AssistantCreateParams> = {}) {
    const { client, owner } = await v1Client(service)
    const assistant = await client.beta.assistants.create({ model: 'm', instructions: 'Be brief.', ...more })
    const thread = await client.beta.threads.create({ messages: [{ role: 'user', content: 'Hello' }] })
    return { client, owner, assistant, thread, ids: { thread_id: thread.id } }
  }

  it('take everything from the request that it changes, and are polled to their end', async () => {
    const { client, assistant, thread, ids } = await setUp()
    const asked = service.model.reply({ text: 'Hi.', usage: { prompt_tokens: 7, completion_tokens: 3 } })
    const run = await client.beta.threads.runs.createAndPoll(
      thread.id,
      {
        assistant_id: assistant.id,
        model: 'another',
        instructions: 'Be long.',
        additional_instructions: 'And kind.',
        additional_messages: [{ role: 'user', content: 'More' }],
        metadata: { a: 'b' },
        temperature: 0.3,
        top_p: 0.9,
        max_completion_tokens: 500,
        max_prompt_tokens: 5000,
        truncation_strategy: { type: 'last_messages', last_messages: 1 },
        response_format: { type: 'json_object' },
        reasoning_effort: 'low',
        tools: [weather],
        tool_choice: { type: 'function', function: { name: 'get_weather' } },
        parallel_tool_calls: false,
      },
      { pollIntervalMs },
    )
    expect((await asked.arrived).body).toMatchObject({
      model: 'another',
      messages: [
        { role: 'system', content: 'Be long.\n\nAnd kind.' },
        { role: 'user', content: 'More' },
      ],
      temperature: 0.3,
      top_p: 0.9,
      max_tokens: 500,
      response_format: { type: 'json_object' },
      reasoning_effort: 'low',
      tools: [{ type: 'function', function: weather.function }],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      parallel_tool_calls: false,
    })
    expect(run).toMatchObject({
      object: 'thread.run',
      status: 'completed',
      model: 'another',
      instructions: 'Be long.\n\nAnd kind.',
      metadata: { a: 'b' },
      tools: [weather],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      truncation_strategy: { type: 'last_messages', last_messages: 1 },
      max_prompt_tokens: 5000,
      max_completion_tokens: 500,
      parallel_tool_calls: false,
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
      required_action: null,
      incomplete_details: null,
    })
    const updated = await client.beta.threads.runs.update(run.id, { ...ids, metadata: { c: 'd' } })
    expect(updated.metadata).toEqual({ c: 'd' })
    expect((await client.beta.threads.runs.list(thread.id)).data.map(({ id }) => id)).toEqual([run.id])
    const [answer] = (await client.beta.threads.messages.list(thread.id, { run_id: run.id })).data
    expect(answer).toMatchObject({ role: 'assistant', assistant_id: assistant.id, run_id: run.id })
    const steps = await client.beta.threads.runs.steps.list(run.id, ids)
    expect(steps.data).toMatchObject([{ type: 'message_creation', status: 'completed', usage: { total_tokens: 10 } }])
    const [step] = steps.data
    expect(await client.beta.threads.runs.steps.retrieve(step?.id ?? '', { ...ids, run_id: run.id })).toEqual(step)
  })

  it('wait for the results of functions, and go on when all are submitted', async () => {
    const { client, assistant, thread, ids } = await setUp({ tools: [weather] })
    service.model.reply(weatherCalls('Paris', 'Rome'))
    const run = await client.beta.threads.runs.createAndPoll(
      thread.id,
      { assistant_id: assistant.id },
      { pollIntervalMs },
    )
    expect(run.status).toBe('requires_action')
    expect(run.expires_at).toBeGreaterThan(Date.now() / 1000 + 500)
    expect(run.required_action).toEqual({
      type: 'submit_tool_outputs',
      submit_tool_outputs: {
        tool_calls: ['Paris', 'Rome'].map((city, index) => ({
          id: `w${index}`,
          type: 'function',
          function: { name: 'get_weather', arguments: JSON.stringify({ city }) },
        })),
      },
    })
    expect((await client.beta.threads.runs.list(thread.id)).data[0]?.status).toBe('requires_action')
    const active = await refusalOf(client.beta.threads.runs.create(thread.id, { assistant_id: assistant.id }))
    expect(active).toMatchObject({ status: 400, message: expect.stringContaining('already has an active run') })
    const submit = (tool_outputs: { tool_call_id: string; output: string }[]) =>
      client.beta.threads.runs.submitToolOutputsAndPoll(run.id, { ...ids, tool_outputs }, { pollIntervalMs })
    expect(await refusalOf(submit([{ tool_call_id: 'w0', output: 'Rain' }]))).toMatchObject({
      status: 400,
      message: expect.stringContaining('w1'),
    })
    const both = [
      { tool_call_id: 'w1', output: 'Sun' },
      { tool_call_id: 'w0', output: 'Rain' },
    ]
    expect(await refusalOf(submit([...both, { tool_call_id: 'w9', output: 'x' }]))).toMatchObject({
      status: 400,
      param: 'tool_outputs[2].tool_call_id',
    })
    const answered = service.model.reply({ text: 'Mixed.' })
    expect(await submit(both)).toMatchObject({ status: 'completed', required_action: null })
    expect((await answered.arrived).body.messages.slice(-2)).toMatchObject([{ content: 'Rain' }, { content: 'Sun' }])
    const steps = await client.beta.threads.runs.steps.list(run.id, { ...ids, order: 'asc' })
    expect(steps.data).toMatchObject([
      {
        type: 'tool_calls',
        status: 'completed',
        step_details: { tool_calls: [{ id: 'w0', function: { output: 'Rain' } }, { id: 'w1' }] },
      },
      { type: 'message_creation' },
    ])
    expect(await refusalOf(submit(both))).toMatchObject({ status: 400 })
  })

  it('are streamed with the helper of the client, also when results are submitted', async () => {
    const { client, assistant, thread, ids } = await setUp({ tools: [weather] })
    service.model.reply({ text: 'Let me see.', ...weatherCalls('Paris') })
    const stream = client.beta.threads.runs.stream(thread.id, { assistant_id: assistant.id })
    const events: string[] = []
    const called: string[] = []
    stream.on('event', ({ event }) => events.push(event))
    stream.on('toolCallCreated', (call) => called.push(`${call.type} ${call.id}`))
    const run = await stream.finalRun()
    expect(run).toMatchObject({ status: 'requires_action' })
    expect(called).toEqual(['function w0'])
    expect(events.filter((event, place) => event !== 'thread.message.delta' && event !== events[place - 1])).toEqual([
      'thread.run.created',
      'thread.run.queued',
      'thread.run.in_progress',
      'thread.run.step.created',
      'thread.run.step.in_progress',
      'thread.message.created',
      'thread.message.in_progress',
      'thread.message.completed',
      'thread.run.step.completed',
      'thread.run.step.created',
      'thread.run.step.in_progress',
      'thread.run.step.delta',
      'thread.run.requires_action',
    ])
    expect((await stream.finalRunSteps()).length).toBe(2)

    service.model.reply({ text: 'It rains.' })
    const tool_outputs = [{ tool_call_id: 'w0', output: 'Rain' }]
    const rest = client.beta.threads.runs.submitToolOutputsStream(run.id, { ...ids, tool_outputs })
    const later: string[] = []
    let text = ''
    rest.on('event', ({ event }) => later.push(event))
    rest.on('textDelta', (delta) => (text += delta.value ?? ''))
    expect(await rest.finalRun()).toMatchObject({ status: 'completed' })
    expect(text).toBe('It rains.')
    expect(later.filter((event) => event !== 'thread.message.delta')).toEqual([
      'thread.run.queued',
      'thread.run.in_progress',
      'thread.run.step.completed',
      'thread.run.step.created',
      'thread.run.step.in_progress',
      'thread.message.created',
      'thread.message.in_progress',
      'thread.message.completed',
      'thread.run.step.completed',
      'thread.run.completed',
    ])
  })

  it('stream the arguments of functions as the model writes them', async () => {
    const { client, assistant, thread, ids } = await setUp({ tools: [weather] })
    const gate = Promise.withResolvers<void>()
    service.model.reply({
      text: 'Let me see.',
      toolCalls: [
        { id: 'w0', name: 'get_weather', arguments: ['{"city": "Pa', gate.promise, 'ris", "days" : 2}'] },
        { id: 'w1', name: 'get_weather', arguments: { city: 'Rome' } },
      ],
    })
    const stream = client.beta.threads.runs.stream(thread.id, { assistant_id: assistant.id })
    const events: string[] = []
    const pieces: string[] = []
    const done: string[] = []
    stream.on('event', ({ event }) => events.push(event))
    stream.on('toolCallDelta', (delta, snapshot) => {
      if (delta.type !== 'function' || snapshot.type !== 'function') return
      pieces.push(delta.function?.arguments ?? '')
      if (snapshot.function.arguments.includes('Pa')) gate.resolve()
    })
    stream.on('toolCallDone', (call) => done.push(call.type === 'function' ? call.function.arguments : call.type))
    const run = await stream.finalRun()
    expect(run).toMatchObject({ status: 'requires_action' })
    expect(pieces.length).toBeGreaterThan(2)
    const written = ['{"city":"Paris","days":2}', '{"city":"Rome"}']
    expect(pieces.join('')).toBe(written.join(''))
    expect(done).toEqual(written)
    const snapshots = (await stream.finalRunSteps()).map(({ step_details: details }) =>
      details.type === 'tool_calls'
        ? details.tool_calls.map((call) => call.type === 'function' && [call.id, call.function.arguments])
        : details.type,
    )
    expect(snapshots).toEqual([
      'message_creation',
      [
        ['w0', written[0]],
        ['w1', written[1]],
      ],
    ])
    const calls = run.required_action?.submit_tool_outputs.tool_calls.map((call) => call.function.arguments)
    expect(calls).toEqual(written)
    expect(events.filter((event) => event === 'thread.run.step.created')).toHaveLength(2)
    await client.beta.threads.runs.cancel(run.id, ids)
  })

  it('withdraw the calls of an answer that broke off, in the same stream', async () => {
    const { client, assistant, thread, ids } = await setUp({ tools: [weather] })
    const call = { name: 'get_weather', arguments: ['{"city": "Par'] }
    service.model.reply({ toolCalls: [{ id: 'w0', ...call }], breakConnection: true })
    service.model.reply({ text: ['It ', 'rains.'] })
    const stream = client.beta.threads.runs.stream(thread.id, { assistant_id: assistant.id })
    const events: string[] = []
    stream.on('event', ({ event }) => events.push(event))
    expect(await stream.finalRun()).toMatchObject({ status: 'completed' })
    expect(events.filter((event, place) => event !== events[place - 1])).toEqual([
      'thread.run.created',
      'thread.run.queued',
      'thread.run.in_progress',
      'thread.run.step.created',
      'thread.run.step.in_progress',
      'thread.run.step.delta',
      'thread.run.step.failed',
      'thread.run.step.created',
      'thread.run.step.in_progress',
      'thread.message.created',
      'thread.message.in_progress',
      'thread.message.delta',
      'thread.message.completed',
      'thread.run.step.completed',
      'thread.run.completed',
    ])

    service.model.reply({ toolCalls: [{ id: 'w1', ...call }], breakConnection: true })
    service.model.reply(weatherCalls('Rome'))
    const again = client.beta.threads.runs.stream(thread.id, { assistant_id: assistant.id })
    const run = await again.finalRun()
    expect(run.status).toBe('requires_action')
    const [withdrawn, step] = await again.finalRunSteps()
    expect(withdrawn).toMatchObject({ status: 'failed', last_error: { code: 'server_error' } })
    expect(await client.beta.threads.runs.steps.retrieve(step?.id ?? '', { ...ids, run_id: run.id })).toMatchObject({
      status: 'in_progress',
      step_details: { tool_calls: [{ id: 'w0' }] },
    })
    expect(step).toMatchObject({
      status: 'in_progress',
      step_details: { tool_calls: [{ id: 'w0', function: { arguments: '{"city":"Rome"}' } }] },
    })
    await client.beta.threads.runs.cancel(run.id, ids)
  })

  it('begin with their thread, streamed and not', async () => {
    const { client, assistant } = await setUp()
    service.model.reply({ text: 'Hi.' })
    const thread = { messages: [{ role: 'user' as const, content: 'Hello' }], metadata: { topic: 'x' } }
    const run = await client.beta.threads.createAndRunPoll({ assistant_id: assistant.id, thread }, { pollIntervalMs })
    expect(run.status).toBe('completed')
    expect((await client.beta.threads.retrieve(run.thread_id)).metadata).toEqual({ topic: 'x' })
    service.model.reply({ text: 'Hi again.' })
    const stream = client.beta.threads.createAndRunStream({ assistant_id: assistant.id, thread })
    const events: string[] = []
    stream.on('event', ({ event }) => events.push(event))
    const [message] = await stream.finalMessages()
    expect(message?.content[0]).toMatchObject({ text: { value: 'Hi again.' } })
    expect(events.slice(0, 2)).toEqual(['thread.created', 'thread.run.created'])
  })

  it('announce in their stream that they are being cancelled, and expire only while they wait', async () => {
    const { client, assistant, thread, ids } = await setUp()
    const never = Promise.withResolvers<void>()
    service.model.reply({ text: ['Half of ', never.promise, 'it'] })
    const stream = await client.beta.threads.runs.create(thread.id, { assistant_id: assistant.id, stream: true })
    const events: OpenAI.Beta.AssistantStreamEvent[] = []
    for await (const event of stream) {
      events.push(event)
      if (event.event !== 'thread.message.delta') continue
      const [run] = (await client.beta.threads.runs.list(thread.id)).data
      expect(run).toMatchObject({ status: 'in_progress', expires_at: null })
      await client.beta.threads.runs.cancel(run?.id ?? '', ids)
      never.resolve()
    }
    expect(events.slice(-4).map(({ event, data }) => [event, 'status' in data && data.status])).toEqual([
      ['thread.run.cancelling', 'cancelling'],
      ['thread.message.incomplete', 'incomplete'],
      ['thread.run.step.cancelled', 'cancelled'],
      ['thread.run.cancelled', 'cancelled'],
    ])
  })

  it('are cancelled, expire and end incomplete', async () => {
    const { client, assistant, thread, ids } = await setUp({ tools: [weather] })
    service.model.reply(weatherCalls('Paris'))
    const waiting = await client.beta.threads.runs.createAndPoll(
      thread.id,
      { assistant_id: assistant.id },
      { pollIntervalMs },
    )
    expect(await client.beta.threads.runs.cancel(waiting.id, ids)).toMatchObject({ status: 'cancelled' })
    const run = async (more: object) =>
      client.beta.threads.runs.createAndPoll(thread.id, { assistant_id: assistant.id, ...more }, { pollIntervalMs })
    service.model.reply({ text: 'Too lo', finishReason: 'length' })
    const cut = await run({})
    expect(cut).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_completion_tokens' } })
    const [message] = (await client.beta.threads.messages.list(thread.id)).data
    expect(message).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_tokens' } })

    service.model.reply({ ...weatherCalls('Paris'), usage: { prompt_tokens: 10, completion_tokens: 300 } })
    const second = await run({ max_completion_tokens: 256 })
    const tool_outputs = [{ tool_call_id: 'w0', output: 'Rain' }]
    const ended = await client.beta.threads.runs.submitToolOutputsAndPoll(
      second.id,
      { ...ids, tool_outputs },
      { pollIntervalMs },
    )
    expect(ended).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_completion_tokens' } })
    const long = [{ role: 'user' as const, content: 'word '.repeat(400) }]
    const unasked = await run({ max_prompt_tokens: 256, additional_messages: long })
    expect(unasked).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_prompt_tokens' } })
    await service.collections.runs.updateOne(
      { _id: ended.id },
      { $set: { error: { type: 'expired', status_code: 504, message: 'late', details: '' } } },
    )
    expect(await client.beta.threads.runs.retrieve(ended.id, ids)).toMatchObject({
      status: 'expired',
      last_error: null,
    })
  })

  it('refuse what they cannot do, with the member', async () => {
    const { client, assistant, thread } = await setUp()
    const refused = (more: object) =>
      refusalOf(client.beta.threads.runs.create(thread.id, { assistant_id: assistant.id, ...more }))
    expect(await refused({ tools: [{ type: 'file_search', file_search: { max_num_results: 3 } }] })).toMatchObject({
      param: 'tools[0].file_search',
    })
    expect(await refused({ truncation_strategy: { type: 'last_messages' } })).toMatchObject({
      param: 'truncation_strategy.last_messages',
    })
    expect(await refused({ unknown: 1 })).toMatchObject({ status: 400, code: 'unknown_parameter' })
    expect(await refused({ assistant_id: 'missing' })).toMatchObject({ status: 404 })
  })
})
