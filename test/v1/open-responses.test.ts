import { connect } from 'node:net'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../support/eventually.ts'
import { pngUrl } from '../support/png.ts'
import type { ChatRequest, ScriptedReply } from '../support/scripted-model.ts'
import { useSharedService } from '../support/shared-service.ts'
import { refusalOf, v1Client } from './v1-client.ts'

/**
 * What an answer must hold by the published description of Open Responses (openresponses.org), without null unless it
 * says so.
 */
const required: Record<string, string> = {
  id: 'string',
  object: 'string',
  created_at: 'number',
  completed_at: 'number or null',
  status: 'string',
  incomplete_details: 'object or null',
  model: 'string',
  previous_response_id: 'string or null',
  instructions: 'string or null',
  output: 'object',
  error: 'object or null',
  tools: 'object',
  tool_choice: 'string or object',
  truncation: 'string',
  parallel_tool_calls: 'boolean',
  text: 'object',
  top_p: 'number',
  presence_penalty: 'number',
  frequency_penalty: 'number',
  top_logprobs: 'number',
  temperature: 'number',
  reasoning: 'object or null',
  user: 'string or null',
  usage: 'object or null',
  max_output_tokens: 'number or null',
  max_tool_calls: 'number or null',
  store: 'boolean',
  background: 'boolean',
  service_tier: 'string',
  metadata: 'object',
  safety_identifier: 'string or null',
  prompt_cache_key: 'string or null',
}

const kindOf = (value: unknown) => (value === null ? 'null' : typeof value)

function problemsOf(response: Record<string, unknown>): string[] {
  return Object.entries(required).flatMap(([name, kinds]) =>
    kinds.split(' or ').includes(kindOf(response[name])) ? [] : [`${name} is ${kindOf(response[name])}`],
  )
}

const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather of a place',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
}

const summary = 'Ann is a keeper of bees.'

function respond({ body }: ChatRequest): ScriptedReply {
  const last = body.messages.at(-1)
  if (String(last?.content).startsWith('Summarise the conversation')) return { text: summary }
  if (body.tools !== undefined && last?.role !== 'tool')
    return { toolCalls: [{ name: 'get_weather', arguments: ['{"location":', '"Rome"}'] }] }
  return { text: ['One ', 'two'], usage: { prompt_tokens: 3, completion_tokens: 2 } }
}

/** What a WebSocket tells of a refusal. */
function pick(event: object | undefined) {
  const { error, status } = JSON.parse(JSON.stringify(event ?? {}))
  return { code: error?.code, status }
}

describe('Open Responses', () => {
  const service = useSharedService({ respond })
  const user = (content: unknown) => [{ type: 'message', role: 'user', content }]
  const cases: [string, object][] = [
    ['a text', { input: user('Say hello.') }],
    ['a text alone', { input: 'Say hello.' }],
    ['a system message', { input: [{ type: 'message', role: 'system', content: 'Be brief.' }, ...user('Hello')] }],
    ['a function', { input: user('The weather?'), tools: [weather] }],
    [
      'a chosen function',
      { input: user('The weather?'), tools: [weather], tool_choice: { type: 'function', name: 'get_weather' } },
    ],
    [
      'a picture',
      {
        input: user([
          { type: 'input_text', text: 'What is this?' },
          { type: 'input_image', image_url: pngUrl },
        ]),
      },
    ],
    [
      'a file',
      {
        input: user([
          { type: 'input_text', text: 'What is this?' },
          {
            type: 'input_file',
            filename: 'a.txt',
            file_data: `data:text/plain;base64,${Buffer.from('A').toString('base64')}`,
          },
        ]),
      },
    ],
    [
      'several turns',
      {
        input: [
          ...user('I am Ann.'),
          { type: 'message', role: 'assistant', content: 'Hello Ann.' },
          ...user('Who am I?'),
        ],
      },
    ],
    [
      'every value that has a default',
      { input: 'Hi', temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0, service_tier: 'auto' },
    ],
    [
      'all that can be included',
      {
        input: 'Hi',
        include: [
          'web_search_call.action.sources',
          'file_search_call.results',
          'message.output_text.logprobs',
          'message.input_image.image_url',
          'reasoning.encrypted_content',
        ],
      },
    ],
    ['a summary of the reasoning', { input: 'Hi', reasoning: { effort: 'low', summary: 'detailed' } }],
    ['probabilities of tokens', { input: 'Hi', top_logprobs: 3 }],
  ]

  it.each(cases)('%s is answered with every member of a response, whole and streamed', async (_what, body) => {
    const { owner } = await v1Client(service)
    const whole = await owner.post('/v1/responses', { model: 'scripted', ...body })
    expect(problemsOf(whole)).toEqual([])
    expect(whole).toMatchObject({ status: 'completed', temperature: 1, top_p: 1, service_tier: 'default' })
    for (const tool of whole['tools'])
      expect(tool).toMatchObject({ description: expect.any(String), parameters: expect.any(Object), strict: false })
    const streamed = await owner.fetch('POST', '/v1/responses', { model: 'scripted', ...body, stream: true })
    const events = (await streamed.text())
      .split('\n')
      .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice('data: '.length))] : []))
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, index) => index))
    const last = events.at(-1)
    expect(last.type).toBe('response.completed')
    expect(problemsOf(last.response)).toEqual([])
    expect(last.response.output).toMatchObject(
      whole['output'].map(({ id: _id, call_id: _call, ...item }: Record<string, unknown>) => item),
    )
    const types = events.map(({ type }) => type)
    const kind =
      whole['output'][0].type === 'function_call' ? 'response.function_call_arguments' : 'response.output_text'
    expect(types).toEqual(expect.arrayContaining([`${kind}.delta`, `${kind}.done`, 'response.output_item.done']))
  })

  it('an output of a function, and a response before, go on', async () => {
    const { owner } = await v1Client(service)
    const first = await owner.post('/v1/responses', { model: 'scripted', input: 'The weather?', tools: [weather] })
    const [call] = first['output']
    const output = [{ type: 'function_call_output', call_id: call.call_id, output: 'sunny' }]
    const second = await owner.post('/v1/responses', {
      model: 'scripted',
      input: output,
      previous_response_id: first['id'],
      tools: [weather],
    })
    expect(problemsOf(second)).toEqual([])
    expect(second).toMatchObject({ previous_response_id: first['id'], output: [{ type: 'message' }] })
  })

  const asked = () =>
    service.model.requests.at(-1)?.body.messages.map(({ role, content }) => `${role}: ${String(content)}`)

  it('a conversation is summarised by the model, and goes on from the summary, which only its project can read', async () => {
    const { client, owner } = await v1Client(service)
    const said = [
      { role: 'user' as const, content: 'I am Ann.' },
      { role: 'assistant' as const, content: 'Hello Ann.' },
    ]
    const compacted = await client.responses.compact({ model: 'scripted', input: said, instructions: 'Keep names.' })
    expect(asked()).toEqual([
      'system: Keep names.',
      'user: I am Ann.',
      'assistant: Hello Ann.',
      expect.stringMatching(/^user: Summarise/),
    ])
    expect(compacted).toMatchObject({
      object: 'response.compaction',
      output: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'I am Ann.' }] },
        { type: 'compaction', encrypted_content: expect.stringMatching(/^v1/) },
      ],
      usage: { total_tokens: expect.any(Number) },
    })
    expect(JSON.stringify(compacted)).not.toContain(summary)
    const input = [...compacted.output, { role: 'user', content: 'Who am I?' }] as object[]
    await owner.post('/v1/responses', { model: 'scripted', input })
    expect(asked()).toEqual([
      'user: I am Ann.',
      `user: [Summary of the conversation so far]\n${summary}`,
      'user: Who am I?',
    ])
    const other = (await v1Client(service)).client
    const stolen = await refusalOf(other.responses.create({ model: 'scripted', input: compacted.output as [] }))
    expect([stolen.status, stolen.param]).toEqual([400, 'input[1].encrypted_content'])
    expect((await refusalOf(client.responses.compact({ model: 'scripted' }))).param).toBe('input')
    const nameless = await owner.fetch('POST', '/v1/responses/compact', { input: said })
    expect(nameless.status).toBe(400)
  })

  it('a question is counted, with what comes before it', async () => {
    const { client } = await v1Client(service)
    const count = async (body: object) => (await client.responses.inputTokens.count(body)).input_tokens
    const short = await count({ model: 'scripted', input: 'Hi' })
    expect(short).toBeGreaterThan(0)
    expect(await count({ input: 'Hi', instructions: 'Be very brief, please.' })).toBeGreaterThan(short)
    const { id } = await client.responses.create({ model: 'scripted', input: 'bee '.repeat(500) })
    expect(await count({ input: 'Hi', previous_response_id: id, tools: [weather] })).toBeGreaterThan(short + 500)
    const { id: conversation } = await client.conversations.create({
      items: [{ role: 'user', content: 'bee '.repeat(500) }],
    })
    expect(await count({ input: 'Hi', conversation })).toBeGreaterThan(short + 500)
  })

  it('a long conversation begins with a summary from a number of tokens on', async () => {
    const { client } = await v1Client(service)
    const context_management = [{ type: 'compaction', compact_threshold: 1000 }]
    const long = await client.responses.create({ model: 'scripted', input: 'bee '.repeat(2000) })
    const go = { model: 'scripted', input: 'And now?', previous_response_id: long.id, context_management }
    const events = await Array.fromAsync(await client.responses.create({ ...go, stream: true }))
    const last = events.at(-1)
    if (last?.type !== 'response.completed') throw new Error('the response did not complete')
    expect(last.response.output).toMatchObject([{ type: 'compaction' }, { type: 'message' }])
    expect(events.filter(({ type }) => type.startsWith('response.output_item')).map(({ type }) => type)).toHaveLength(4)
    expect(asked()).toEqual([`user: [Summary of the conversation so far]\n${summary}`, 'user: And now?'])
    // What follows goes on from there, and a short conversation stays as it is.
    const next = await client.responses.create({ ...go, previous_response_id: last.response.id, input: 'More' })
    expect(next.output).toMatchObject([{ type: 'message' }])
    expect(asked()).toHaveLength(4)
    // A client that keeps the conversation itself sends all of it.
    const input = [
      { role: 'user' as const, content: 'bee '.repeat(2000) },
      { role: 'assistant' as const, content: 'Bees.' },
      { role: 'user' as const, content: 'And now?' },
    ]
    const own = await client.responses.create({ model: 'scripted', input, store: false, context_management })
    expect(own.output).toMatchObject([{ type: 'compaction' }, { type: 'message' }])
    expect(asked()).toEqual([`user: [Summary of the conversation so far]\n${summary}`, 'user: And now?'])
  })

  it('the official client asks over a WebSocket, and continues what is not stored', async () => {
    const { client } = await v1Client(service)
    const socket = new ResponsesWS(client)
    const turn = async (body: object) => {
      const done = Promise.withResolvers<{ id: string; output_text?: string }>()
      const failed = Promise.withResolvers<{ code?: unknown; status?: unknown }>()
      socket.on('response.completed', ({ response }) => done.resolve(response))
      socket.on('error', ({ error }) => failed.resolve({ ...pick(error) }))
      socket.send({ type: 'response.create', model: 'scripted', ...body })
      return Promise.race([done.promise, failed.promise])
    }
    const idOf = (answer: object) => ('id' in answer ? String(answer.id) : '')
    const first = await turn({ input: 'One', store: false })
    expect(first).toMatchObject({ status: 'completed', output_text: 'One two' })
    const second = await turn({ input: 'Two', store: false, previous_response_id: idOf(first) })
    expect(second).toMatchObject({ status: 'completed' })
    expect(asked()).toEqual(['user: One', 'assistant: One two', 'user: Two'])
    // Only the newest is held, and none that a response could not continue.
    const missing = { code: 'previous_response_not_found', status: 404 }
    expect(await turn({ input: 'Three', previous_response_id: idOf(first) })).toEqual(missing)
    const output = [{ type: 'function_call_output', call_id: 'none', output: 'x' }]
    const third = { previous_response_id: idOf(second), store: false }
    expect(await turn({ ...third, input: output })).toMatchObject({ status: 400 })
    expect(await turn({ ...third, input: 'Three' })).toEqual(missing)
    const last = await turn({ input: 'Four', store: false })
    expect(last).toMatchObject({ status: 'completed' })
    socket.close()
    // Nothing of them is left, and another connection cannot continue them.
    const { threads } = service.collections
    const run = idOf(last).slice('resp_'.length)
    await eventually(
      'the end of what was not stored',
      async () => (await service.collections.runs.exists({ _id: run })) === null,
    )
    expect(await threads.countDocuments({ name: 'Response', user_id: (await v1Client(service)).owner.userId })).toBe(0)
  })

  it('a WebSocket is refused without a key, and takes one text after the other', async () => {
    const { client } = await v1Client(service)
    const url = client.baseURL.replace('http', 'ws')
    const open = (headers: Record<string, string>) => new WebSocket(`${url}/responses`, { headers })
    const refused = open({ authorization: 'Bearer wrong' })
    expect(await new Promise((resolve) => refused.once('error', resolve))).toMatchObject({
      message: expect.stringContaining('401'),
    })
    const headers = { authorization: `Bearer ${client.apiKey}` }
    const socket = open(headers)
    const events: Record<string, unknown>[] = []
    socket.on('message', (data: Buffer) => events.push(JSON.parse(data.toString('utf8'))))
    await new Promise((resolve) => socket.once('open', resolve))
    for (const stream_id of ['a', 'b'])
      socket.send(JSON.stringify({ type: 'response.create', model: 'scripted', input: stream_id, stream_id }))
    socket.send('no JSON')
    socket.send(JSON.stringify({ type: 'response.steer' }))
    socket.send(JSON.stringify({ type: 'response.create', model: 'scripted', input: 'x', color: 'red' }))
    // It would be in every event.
    const stream_id = 'x'.repeat(201)
    socket.send(JSON.stringify({ type: 'response.create', model: 'scripted', input: 'x', stream_id }))
    const pong = new Promise((resolve) => socket.once('pong', resolve))
    socket.ping()
    await pong
    await eventually('four refusals', () => events.filter(({ type }) => type === 'error').length === 4)
    const ends = events.filter(({ type }) => type === 'response.completed' || type === 'error')
    expect(ends).toMatchObject([
      { stream_id: 'a' },
      { stream_id: 'b' },
      { status: 400, error: { type: 'invalid_request_error' } },
      { status: 400, error: { param: 'type', code: 'unsupported_parameter' } },
      { status: 400, error: { param: 'color', code: 'unknown_parameter' } },
      { status: 400, error: { param: 'stream_id' } },
    ])
    // No event of the second comes before the end of the first.
    const streams = events.map(({ stream_id: stream }) => stream)
    expect(streams.lastIndexOf('a')).toBeLessThan(streams.indexOf('b'))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.send(Buffer.from('x'), { binary: true })
    expect(await closed).toBe(1003)
    const plain = await fetch(`${client.baseURL}/responses`, { headers })
    expect([plain.status, plain.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('a request that offers another protocol is answered as it is', async () => {
    const { client } = await v1Client(service)
    const { hostname, port } = new URL(service.url)
    const body = JSON.stringify({ model: 'scripted', input: 'Hi' })
    const head = [
      'POST /v1/responses HTTP/1.1',
      `host: ${hostname}`,
      `authorization: Bearer ${client.apiKey}`,
      'connection: Upgrade, HTTP2-Settings, close',
      'upgrade: h2c',
      'content-type: application/json',
      `content-length: ${body.length}`,
    ]
    const socket = connect(Number(port), hostname)
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    const answer = (await Array.fromAsync(socket)).join('')
    expect(answer).toMatch(/^HTTP\/1.1 200/)
  })
})
