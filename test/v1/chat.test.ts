import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { startHttpServer } from '../support/http-server.ts'
import { png, pngUrl } from '../support/png.ts'
import { useSharedService } from '../support/shared-service.ts'
import type { TestUser } from '../support/users.ts'
import { refusalOf, v1Client } from './v1-client.ts'

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    strict: true,
  },
}
const ask = [{ role: 'user' as const, content: 'How is the weather in Paris?' }]
const wav = Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1'), Buffer.alloc(28)]).toString('base64')

const byText = (a: string, b: string) => a.localeCompare(b)

describe('chat completions on /v1', () => {
  const service = useSharedService()
  const model = 'scripted'
  let client: OpenAI
  let owner: TestUser
  const asked = () => service.model.requests.at(-1)?.body
  const leftOf = async () => ({
    threads: await service.collections.threads.countDocuments({ user_id: owner.userId, name: 'Chat completion' }),
    attachments: await service.collections.attachments.countDocuments({ user_id: owner.userId }),
  })

  beforeAll(async () => {
    ;({ client, owner } = await v1Client(service))
  })

  it('pass a conversation to a model of the settings with nothing added, and keep nothing', async () => {
    const details = { prompt_tokens_details: { cached_tokens: 4 }, completion_tokens_details: { reasoning_tokens: 1 } }
    service.model.reply({ text: ['One ', 'answer'], usage: { prompt_tokens: 7, completion_tokens: 2, details } })
    const before = await owner.get('/user/')
    const completion = await client.chat.completions.create({
      model,
      messages: [{ role: 'system', content: 'Be brief.' }, ...ask],
      temperature: 0.2,
      top_p: 0.9,
      seed: 7,
      stop: ['END'],
      frequency_penalty: 0.5,
      presence_penalty: -0.5,
      logit_bias: { '42': -100 },
      reasoning_effort: 'low',
      service_tier: 'flex',
      verbosity: 'low',
      user: 'user-1',
      prompt_cache_key: 'key-1',
      max_completion_tokens: 99,
    })
    expect(completion).toMatchObject({
      object: 'chat.completion',
      model,
      choices: [
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'One answer' }, logprobs: null },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9, ...details },
    })
    expect(asked()).toMatchObject({
      model,
      messages: [{ role: 'system', content: 'Be brief.' }, ...ask],
      temperature: 0.2,
      top_p: 0.9,
      seed: 7,
      stop: ['END'],
      logit_bias: { '42': -100 },
      reasoning_effort: 'low',
      service_tier: 'flex',
      verbosity: 'low',
      user: 'user-1',
      prompt_cache_key: 'key-1',
    })
    expect(asked()?.tools).toBeUndefined()
    await eventually('nothing to be left', async () => (await leftOf()).threads === 0)
    expect((await owner.get('/user/')).thread_counter).toBe(before.thread_counter)
    expect((await owner.get('/threads/')).threads.map(({ name }: { name: string }) => name)).not.toContain(
      'Chat completion',
    )
    const ids = (await client.models.list()).data.map(({ id }) => id)
    expect(ids.filter((id) => id.includes('gateway'))).toEqual([])
  })

  it('go without what says who asks to a server that does not know it, and only there', async () => {
    const about = { user: 'user-1', prompt_cache_key: 'key-1', safety_identifier: 'person-1' }
    // What is learnt of a server is remembered with the name of the model.
    const config = { 'type==agent/model': 'model-of-a-strict-server' }
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'Strict', config })
    const create = () => client.chat.completions.create({ model: String(id), messages: ask, seed: 7, ...about })
    const errorBody = JSON.stringify({ detail: [{ loc: ['body', 'prompt_cache_key'], msg: 'Extra inputs' }] })
    service.model.reply({ status: 422, errorBody })
    service.model.reply({ text: 'Without' })
    expect((await create()).choices[0]?.message.content).toBe('Without')
    const [with_, without] = service.model.requests.slice(-2).map(({ body }) => body)
    expect(with_).toMatchObject(about)
    expect(without).toMatchObject({ seed: 7 })
    for (const name of Object.keys(about)) expect(without).not.toHaveProperty(name)
    service.model.reply({ status: 400, errorMessage: 'The seed is too large.' })
    expect(await refusalOf(create())).toMatchObject({ status: 400 })
    expect(service.model.unused).toBe(0)
  })

  it('are answered by the assistant that the model names, by its id or its name', async () => {
    const config = { 'type==agent/system_message': 'You are a helper.', 'type==agent/model': 'other-model' }
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'The helper', config })
    for (const name of [String(id), 'The helper']) {
      service.model.reply({ text: 'Here' })
      const completion = await client.chat.completions.create({ model: name, messages: ask })
      expect(completion.model).toBe(name)
      expect(asked()).toMatchObject({ model: 'other-model' })
      expect(asked()?.messages).toEqual([{ role: 'system', content: 'You are a helper.' }, ...ask])
    }
    await owner.post('/assistants/', { name: 'The helper' })
    const ambiguous = await refusalOf(client.chat.completions.create({ model: 'The helper', messages: ask }))
    expect([ambiguous.status, ambiguous.param]).toEqual([400, 'model'])
  })

  it('are answered by the model server under any other name, and refused as it refuses one', async () => {
    service.model.reply({ text: 'Here' })
    const completion = await client.chat.completions.create({ model: 'owner/gpt-4o', messages: ask })
    expect([completion.model, asked()?.model]).toEqual(['owner/gpt-4o', 'owner/gpt-4o'])
    service.model.reply({ status: 404, errorMessage: 'The model `nothing` does not exist' })
    const unknown = await refusalOf(client.chat.completions.create({ model: 'nothing', messages: ask }))
    expect(unknown).toBeInstanceOf(OpenAI.NotFoundError)
    expect([unknown.code, unknown.param, unknown.type]).toEqual(['model_not_found', 'model', 'invalid_request_error'])
  })

  it("end with calls of the client's functions, whose results the next request brings", async () => {
    service.model.reply({ toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: ['{"city": ', '"Paris"}'] }] })
    const first = await client.chat.completions.create({
      model,
      messages: ask,
      tools: [weather],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      parallel_tool_calls: false,
    })
    expect(first.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city": "Paris"}' } },
        ],
      },
    })
    expect(asked()).toMatchObject({
      tools: [weather],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      parallel_tool_calls: false,
    })
    service.model.reply({ text: 'It rains.' })
    const message = first.choices[0]?.message
    const second = await client.chat.completions.create({
      model,
      tools: [weather],
      messages: [...ask, ...(message ? [message] : []), { role: 'tool', tool_call_id: 'call_1', content: 'rain' }],
    })
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'It rains.' } })
    expect(asked()?.messages.slice(1)).toMatchObject([
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'get_weather' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
    ])
  })

  it('stream calls as they arrive: id and name first, then the arguments', async () => {
    const gate = Promise.withResolvers<void>()
    service.model.reply({
      text: ['Let me ', 'look.'],
      toolCalls: [
        { id: 'call_a', name: 'get_weather', arguments: ['{"city": "Par', gate.promise, 'is"}'] },
        { id: 'call_b', name: 'get_weather', arguments: ['{"city": "Rome"}'] },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 4 },
    })
    const stream = client.chat.completions.stream({
      model,
      messages: ask,
      tools: [weather],
      stream_options: { include_usage: true },
    })
    const deltas: { index: number; id?: string | undefined; text: string }[] = []
    stream.on('chunk', ({ choices: [choice] }) => {
      for (const call of choice?.delta.tool_calls ?? []) {
        if (deltas.length === 0) gate.resolve()
        deltas.push({ index: call.index, id: call.id, text: call.function?.arguments ?? '' })
      }
    })
    const completion = await stream.finalChatCompletion()
    const calls = completion.choices[0]?.message.tool_calls ?? []
    expect(calls).toMatchObject([
      { id: 'call_a', function: { name: 'get_weather', arguments: '{"city": "Paris"}' } },
      { id: 'call_b', function: { name: 'get_weather', arguments: '{"city": "Rome"}' } },
    ])
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'Let me look.' } })
    expect(completion.usage).toMatchObject({ total_tokens: 7 })
    // The first call came before the model had written it whole.
    expect(deltas.filter(({ index }) => index === 0).length).toBeGreaterThan(1)
    expect(deltas.map(({ id }) => id).filter(Boolean)).toEqual(['call_a', 'call_b'])
  })

  it('run the functions of an application with the helper of the client', async () => {
    service.model.reply({ toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] })
    service.model.reply({ text: 'Snow in Oslo.' })
    const asks: string[] = []
    const runner = client.chat.completions.runTools({
      model,
      stream: true,
      messages: ask,
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'The weather of a city',
            parameters: weather.function.parameters,
            parse: JSON.parse,
            function: ({ city }: { city: string }) => {
              asks.push(city)
              return 'snow'
            },
          },
        },
      ],
    })
    expect(await runner.finalContent()).toBe('Snow in Oslo.')
    expect(asks).toEqual(['Oslo'])
  })

  it("execute an assistant's own tools here, beside the functions of the client", async () => {
    const page = await startHttpServer((_request, response) => void response.end('from the tool'))
    const tool = { type: 'http_request', name: 'fetch_page', config: { allowed_hosts: ['127.0.0.1'] } }
    const { assistant_id: id } = await owner.post('/assistants/', {
      name: 'With tools',
      config: { 'type==agent/tools': [tool] },
    })
    service.model.reply({ toolCalls: [{ name: 'fetch_page', arguments: { method: 'GET', url: page.url } }] })
    service.model.reply({
      text: 'Now you.',
      toolCalls: [{ id: 'mine', name: 'get_weather', arguments: { city: 'Bern' } }],
    })
    const stream = client.chat.completions.stream({ model: String(id), messages: ask, tools: [weather] })
    const { choices } = await stream.finalChatCompletion()
    expect(choices[0]?.message.tool_calls).toMatchObject([{ id: 'mine', function: { arguments: '{"city":"Bern"}' } }])
    expect(asked()?.messages.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('from the tool') })
    await page.close()
  })

  it('take functions by their old names, and answer by them', async () => {
    const { name, description, parameters } = weather.function
    const asOld = { model, functions: [{ name, description, parameters }], function_call: { name } }
    const call = { name: 'get_weather', arguments: '{"city":"Paris"}' }
    service.model.reply({ toolCalls: [{ name: call.name, arguments: ['{"city":', '"Paris"}'] }] })
    const first = await client.chat.completions.create({ ...asOld, messages: ask })
    expect(first.choices[0]).toMatchObject({
      message: { content: null, function_call: call },
      finish_reason: 'function_call',
    })
    expect(first.choices[0]?.message.tool_calls).toBeUndefined()
    expect(asked()).toMatchObject({
      tools: [{ type: 'function', function: { name } }],
      tool_choice: { type: 'function', function: { name } },
      parallel_tool_calls: false,
    })
    service.model.reply({ text: 'Rain' })
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      ...ask,
      { role: 'assistant', content: null, function_call: call },
      { role: 'function', name, content: 'rain' },
    ]
    const second = await client.chat.completions.create({ ...asOld, function_call: 'auto', messages })
    expect(second.choices[0]).toMatchObject({ message: { content: 'Rain' }, finish_reason: 'stop' })
    const [, called, result] = asked()?.messages ?? []
    expect(called?.tool_calls?.[0]?.function).toEqual(call)
    expect(result).toMatchObject({ role: 'tool', content: 'rain', tool_call_id: called?.tool_calls?.[0]?.id })
    service.model.reply({ toolCalls: [{ name: call.name, arguments: ['{"city":', '"Paris"}'] }] })
    const deltas: string[] = []
    let end: string | null | undefined
    for await (const { choices } of await client.chat.completions.create({ ...asOld, messages: ask, stream: true })) {
      deltas.push(choices[0]?.delta.function_call?.arguments ?? '')
      end = choices[0]?.finish_reason ?? end
    }
    expect([deltas.join(''), end]).toEqual([call.arguments, 'function_call'])
  })

  it('take flat functions, as some clients send them', async () => {
    const { name, parameters } = weather.function
    service.model.reply({ toolCalls: [{ name, arguments: { city: 'Paris' } }] })
    const tools = [{ type: 'function', name, parameters }] as unknown as OpenAI.ChatCompletionTool[]
    const { choices } = await client.chat.completions.create({ model, messages: ask, tools })
    expect(choices[0]).toMatchObject({ message: { tool_calls: [{ function: { name } }] }, finish_reason: 'tool_calls' })
    expect(asked()?.tools).toMatchObject([{ type: 'function', function: { name, parameters } }])
  })

  it('parse structured answers, which the model is asked for with its schema', async () => {
    const Answer = z.object({ city: z.string(), degrees: z.number() })
    service.model.reply({ text: '{"city":"Paris","degrees":12}' })
    const { choices } = await client.chat.completions.parse({
      model,
      messages: ask,
      response_format: zodResponseFormat(Answer, 'answer'),
    })
    expect(choices[0]?.message.parsed).toEqual({ city: 'Paris', degrees: 12 })
    expect(asked()?.['response_format']).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'answer', strict: true },
    })
  })

  it('give several choices, each from a run of its own, with their usage summed', async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 1 }
    for (const text of ['A', 'B', 'C']) service.model.reply({ text, usage })
    const completion = await client.chat.completions.create({ model, messages: ask, n: 3 })
    expect(completion.choices.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(completion.choices.map(({ message }) => message.content ?? '').toSorted(byText)).toEqual(['A', 'B', 'C'])
    expect(completion.usage).toMatchObject({ prompt_tokens: 15, completion_tokens: 3, total_tokens: 18 })
    for (const text of ['D', 'E']) service.model.reply({ text, usage })
    const stream = client.chat.completions.stream({ model, messages: ask, n: 2 })
    const streamed = await stream.finalChatCompletion()
    expect(streamed.choices.map(({ message }) => message.content ?? '').toSorted(byText)).toEqual(['D', 'E'])
    expect((await refusalOf(client.chat.completions.create({ model, messages: ask, n: 9 }))).param).toBe('n')
  })

  it('answer the probabilities of tokens, whole and streamed', async () => {
    const token = (text: string) => ({ token: text, logprob: -0.5, bytes: [...Buffer.from(text)], top_logprobs: [] })
    const chunk = (text: string) => ({
      choices: [{ index: 0, delta: { content: text }, logprobs: { content: [token(text)], refusal: null } }],
    })
    const raw = () => [
      ...['Hel', 'lo'].map((text) => `data: ${JSON.stringify(chunk(text))}\n\n`),
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
    ]
    service.model.reply({ raw: raw() })
    const options = { model, messages: ask, logprobs: true, top_logprobs: 2 }
    const whole = await client.chat.completions.create(options)
    expect(whole.choices[0]?.logprobs?.content).toEqual([token('Hel'), token('lo')])
    expect(asked()).toMatchObject({ logprobs: true, top_logprobs: 2 })
    service.model.reply({ raw: raw() })
    const streamed = await client.chat.completions.stream(options).finalChatCompletion()
    expect(streamed.choices[0]?.logprobs?.content).toEqual([token('Hel'), token('lo')])
  })

  it('show images, sounds and files to the model, and delete them with the answer', async () => {
    const site = await startHttpServer((_request, response) => void response.end(png))
    const upload = await client.files.create({
      purpose: 'user_data',
      file: new File(['the content of the file'], 'notes.txt', { type: 'text/plain' }),
    })
    service.model.reply({ text: 'Seen' })
    await client.chat.completions.create({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look: ' },
            { type: 'image_url', image_url: { url: `${site.url}/a.png`, detail: 'low' } },
            { type: 'image_url', image_url: { url: pngUrl } },
            { type: 'input_audio', input_audio: { data: wav, format: 'wav' } },
            { type: 'file', file: { file_id: upload.id } },
          ],
        },
      ],
    })
    expect(asked()?.messages[0]?.content).toEqual([
      { type: 'text', text: 'Look: ' },
      { type: 'image_url', image_url: { url: pngUrl, detail: 'low' } },
      { type: 'image_url', image_url: { url: pngUrl } },
      { type: 'input_audio', input_audio: { data: wav, format: 'wav' } },
      {
        type: 'file',
        file: {
          filename: 'notes.txt',
          file_data: `data:text/plain;base64,${Buffer.from('the content of the file').toString('base64')}`,
        },
      },
    ])
    await eventually('nothing to be left', async () => {
      const { threads, attachments } = await leftOf()
      return threads + attachments === 0
    })
    await site.close()
  })

  it('are found by pairs of their metadata that read the same when they are joined', async () => {
    const { client } = await v1Client(service)
    const ids: string[] = []
    for (const metadata of [{ a: 'b=c' }, { 'a=b': 'c' }] as Record<string, string>[]) {
      service.model.reply({ text: 'Yes' })
      const messages = [{ role: 'user' as const, content: 'Hi' }]
      ids.push((await client.chat.completions.create({ model: 'scripted', messages, store: true, metadata })).id)
    }
    const found = async (metadata: Record<string, string>) =>
      (await client.chat.completions.list({ metadata })).data.map(({ id }) => id)
    expect(await found({ a: 'b=c' })).toEqual([ids[0]])
    expect(await found({ 'a=b': 'c' })).toEqual([ids[1]])
  })

  it('are kept with store, and can be listed, read, changed and deleted', async () => {
    const made: string[] = []
    const kinds: Record<string, string>[] = [{ kind: 'a', round: '1' }, { kind: 'b' }, { kind: 'a', round: '2' }]
    for (const [index, metadata] of kinds.entries()) {
      service.model.reply({ text: `Answer ${index}`, usage: { prompt_tokens: 2, completion_tokens: 1 } })
      const content = [
        { type: 'text' as const, text: 'See' },
        { type: 'image_url' as const, image_url: { url: pngUrl } },
      ]
      const { id } = await client.chat.completions.create({
        model,
        store: true,
        metadata,
        messages: [
          { role: 'system', content: 'Short.' },
          { role: 'user', content },
        ],
      })
      made.push(id)
    }
    const list = await client.chat.completions.list({ order: 'asc', limit: 2 })
    expect(list.data.map(({ id }) => id)).toEqual(made.slice(0, 2))
    const all = await Array.fromAsync(await client.chat.completions.list({ limit: 1, order: 'desc' }))
    expect(all.map(({ id }) => id)).toEqual(made.toReversed())
    const filtered = await client.chat.completions.list({ metadata: { kind: 'a', round: '2' } })
    expect(filtered.data.map(({ id }) => id)).toEqual([made[2]])
    expect((await client.chat.completions.list({ model: 'another' })).data).toEqual([])

    const [first = '', second = ''] = made
    expect(await client.chat.completions.retrieve(first)).toMatchObject({
      id: first,
      model,
      metadata: { kind: 'a', round: '1' },
      choices: [{ message: { content: 'Answer 0' }, finish_reason: 'stop' }],
      usage: { total_tokens: 3 },
    })
    const messages = await client.chat.completions.messages.list(first, { order: 'asc' })
    expect(messages.data).toMatchObject([
      { role: 'system', content: 'Short.' },
      { role: 'user', content: 'See', content_parts: [{ type: 'text', text: 'See' }, { type: 'image_url' }] },
    ])
    const changed = await client.chat.completions.update(first, { metadata: { kind: 'c' } })
    expect(changed.metadata).toEqual({ kind: 'c' })
    expect((await client.chat.completions.list({ metadata: { kind: 'c' } })).data.map(({ id }) => id)).toEqual([first])

    const other = await v1Client(service)
    expect(await refusalOf(other.client.chat.completions.retrieve(second))).toBeInstanceOf(OpenAI.NotFoundError)
    expect((await other.client.chat.completions.list()).data).toEqual([])

    expect(await service.collections.attachments.countDocuments({ user_id: owner.userId })).toBe(3)
    const deleted = await client.chat.completions.delete(second)
    expect(deleted).toMatchObject({ id: second, object: 'chat.completion.deleted', deleted: true })
    const receipt = await owner.get(`/receipts/${Reflect.get(deleted, 'receipt_id')}`)
    expect(receipt).toMatchObject({ status: 'complete', found: { attachments: 1, runs: 1 }, left: { attachments: 0 } })
    expect(await refusalOf(client.chat.completions.retrieve(second))).toBeInstanceOf(OpenAI.NotFoundError)
  })

  it('refuse what they cannot do, with its name', async () => {
    const before = service.model.requests.length
    const refused = async (body: object) => {
      const request = client.chat.completions.create({ model, messages: ask, ...body } as never)
      const { status, param, code } = await refusalOf(request)
      return [status, param, code]
    }
    for (const [member, value] of Object.entries({
      audio: { voice: 'alloy', format: 'wav' },
      modalities: ['text', 'audio'],
      prediction: { type: 'content', content: 'x' },
      web_search_options: {},
      function_call: { name: 'old' },
      tool_choice: { type: 'function', function: { name: 'unknown' } },
    }))
      expect(await refused({ [member]: value })).toEqual([400, member, 'unsupported_parameter'])
    expect(await refused({ tools: [{ type: 'custom', custom: { name: 'x' } }] })).toEqual([
      400,
      'tools[0].type',
      'unsupported_parameter',
    ])
    expect(await refused({ something: 1 })).toEqual([400, 'something', 'unknown_parameter'])
    expect(await refused({ messages: undefined })).toEqual([400, 'messages', 'missing_required_parameter'])
    expect(service.model.requests.length).toBe(before)
  })

  it('refuse parts that are too many, too large, of another kind, or at inner addresses; others are answered', async () => {
    const user = (content: unknown) => [{ role: 'user', content }]
    const refused = async (content: unknown) => {
      const request = client.chat.completions.create({ model, messages: user(content) } as never)
      const { status, param } = await refusalOf(request)
      return [status, param]
    }
    const image = (url: string) => ({ type: 'image_url', image_url: { url } })
    const bomb = await startHttpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png' })
      const piece = Buffer.alloc(1024 * 1024)
      const more = () => {
        while (response.write(piece)) if (response.destroyed) return
        response.once('drain', more)
      }
      more()
    })
    service.model.reply({ text: 'A bystander' })
    const bystander = client.chat.completions.create({ model, messages: ask })
    expect(await refused(Array.from({ length: 33 }, () => image(pngUrl)))).toEqual([400, 'messages'])
    expect(await refused([image(`${bomb.url}/bomb`)])).toEqual([400, 'messages[0].content[0].image_url.url'])
    for (const url of ['http://10.0.0.1/a.png', 'http://169.254.169.254/latest', 'file:///etc/passwd', 'http://[::1]/'])
      expect(await refused([image(url)])).toEqual([400, 'messages[0].content[0].image_url.url'])
    expect(await refused([image('data:image/png;base64,bm90IGFuIGltYWdl')])).toEqual([
      400,
      'messages[0].content[0].image_url.url',
    ])
    expect(await refused([image('data:image/png,raw')])).toEqual([400, 'messages[0].content[0].image_url.url'])
    expect(await refused([{ type: 'input_audio', input_audio: { data: wav, format: 'mp3' } }])).toEqual([
      400,
      'messages[0].content[0].input_audio.format',
    ])
    expect(await refused([{ type: 'file', file: { file_id: 'unknown' } }])).toEqual([404, null])
    expect(await refused([{ type: 'file', file: {} }])).toEqual([400, 'messages[0].content[0].file'])
    expect(await refused([{ type: 'video_url', video_url: {} }])).toEqual([400, 'messages[0].content[0]'])
    expect((await bystander).choices[0]?.message.content).toBe('A bystander')
    await bomb.close()
  })

  it('answers completions, the older interface, each prompt as a question', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 }
    service.model.reply({ text: ' is a test', usage })
    const one = await client.completions.create({ model, prompt: 'This', echo: true, max_tokens: 7, temperature: 0 })
    expect(one).toMatchObject({
      id: expect.stringMatching(/^cmpl-/),
      object: 'text_completion',
      model,
      choices: [{ index: 0, text: 'This is a test', logprobs: null, finish_reason: 'stop' }],
      usage: { total_tokens: 5 },
    })
    expect(asked()).toMatchObject({ messages: [{ role: 'user', content: 'This' }], temperature: 0 })

    const answers = ['One', 'Two', 'Three', 'Four']
    for (const prompt of ['A', 'B'])
      for (const text of answers.splice(0, 2))
        service.model.reply({ when: ({ body }) => body.messages.at(-1)?.content === prompt, text })
    const many = await client.completions.create({ model, prompt: ['A', 'B'], n: 2 })
    expect(many.choices.map(({ index }) => index)).toEqual([0, 1, 2, 3])
    expect(
      many.choices
        .slice(0, 2)
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(['One', 'Two'])
    expect(
      many.choices
        .slice(2)
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(['Four', 'Three'])

    service.model.reply({ text: ['Say ', 'this'], usage })
    const stream = await client.completions.create({
      model,
      prompt: 'Say',
      echo: true,
      stream: true,
      stream_options: { include_usage: true },
    })
    const chunks = await Array.fromAsync(stream)
    expect(chunks.map(({ choices }) => choices[0]?.text ?? '').join('')).toBe('SaySay this')
    expect(new Set(chunks.map(({ object }) => object))).toEqual(new Set(['text_completion']))
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 5 } })

    // Nobody would answer a function of the assistant.
    const config = { 'type==agent/tools': [{ type: 'client', config: { name: 'get_weather' } }] }
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'Caller', config })
    service.model.reply({ text: 'Let me see.', toolCalls: [{ name: 'get_weather', arguments: {} }] })
    const calling = await client.completions.create({ model: String(id), prompt: 'The weather?' })
    expect(calling.choices).toMatchObject([{ text: 'Let me see.', finish_reason: 'stop' }])

    const refused = async (body: object) => {
      const { status, param, code } = await refusalOf(client.completions.create({ model, prompt: 'Say', ...body }))
      return [status, param, code]
    }
    expect(await refused({ suffix: 'end' })).toEqual([400, 'suffix', 'unsupported_parameter'])
    expect(await refused({ prompt: [1, 2] })).toEqual([400, 'prompt', 'unsupported_parameter'])
    expect(await refused({ best_of: 3 })).toEqual([400, 'best_of', 'unsupported_parameter'])
    expect(await refused({ prompt: ['a', 'b', 'c'], n: 3 })).toEqual([400, 'prompt', 'invalid_value'])
    expect(await refused({ prompt: null })).toEqual([400, 'prompt', 'missing_required_parameter'])
  })
})
