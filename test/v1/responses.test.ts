import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { clientWith, refusalOf, v1Client } from './v1-client.ts'

type Event = OpenAI.Responses.ResponseStreamEvent

describe('responses of /v1', () => {
  const service = useSharedService()
  const usage = {
    prompt_tokens: 11,
    completion_tokens: 7,
    details: { prompt_tokens_details: { cached_tokens: 5 }, completion_tokens_details: { reasoning_tokens: 3 } },
  }

  it('answer with a model of the settings, and add nothing to what is sent', async () => {
    const { client } = await v1Client(service)
    service.model.reply({ text: ['Hello ', 'there.'], usage })
    const response = await client.responses.create({
      model: 'scripted',
      input: 'Hi',
      instructions: 'Be brief.',
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 50,
      metadata: { team: 'blue' },
      user: 'someone',
      text: { verbosity: 'low' },
      reasoning: { effort: 'low' },
      service_tier: 'flex',
    })
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_[0-9a-f-]{36}$/),
      object: 'response',
      status: 'completed',
      model: 'scripted',
      instructions: 'Be brief.',
      error: null,
      incomplete_details: null,
      output_text: 'Hello there.',
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 50,
      metadata: { team: 'blue' },
      user: 'someone',
      store: true,
      background: false,
      tools: [],
      tool_choice: 'auto',
      usage: {
        input_tokens: 11,
        input_tokens_details: { cached_tokens: 5 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 3 },
        total_tokens: 18,
      },
    })
    expect(response.output).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hello there.', annotations: [], logprobs: [] }],
      },
    ])
    expect(service.model.requests.at(-1)?.body).toMatchObject({
      model: 'scripted',
      temperature: 0.5,
      top_p: 0.9,
      user: 'someone',
      verbosity: 'low',
      reasoning_effort: 'low',
      service_tier: 'flex',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    })
    expect(await client.responses.retrieve(response.id)).toEqual(response)
    const items = await client.responses.inputItems.list(response.id)
    expect(items.data).toMatchObject([
      { id: expect.stringMatching(/^msg_/), role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    ])
  })

  it('answer with an assistant of the project by its id or name, with its configuration', async () => {
    const { client, owner } = await v1Client(service)
    const { assistant_id: id } = await owner.post('/assistants/', {
      name: 'Pirate',
      config: { 'type==agent/system_message': 'Talk like a pirate.', 'type==agent/model': 'ship' },
    })
    for (const model of [String(id), 'Pirate']) {
      service.model.reply({ text: 'Arr' })
      const response = await client.responses.create({ model, input: 'Hi', instructions: 'Now.' })
      expect(response).toMatchObject({ model, output_text: 'Arr' })
      expect(service.model.requests.at(-1)?.body).toMatchObject({
        model: 'ship',
        messages: [
          { role: 'system', content: 'Talk like a pirate.\n\nNow.' },
          { role: 'user', content: 'Hi' },
        ],
      })
    }
    // Neither the gateway nor the threads of responses are shown among what the user has made.
    expect((await owner.get('/assistants/')).length ?? 1).toBe(1)
    expect((await owner.get('/threads/')).total).toBe(0)
  })

  it('stream their events in order, numbered without gaps', async () => {
    const { client } = await v1Client(service)
    service.model.reply({ text: ['Long words of ', 'different sizes.'], usage })
    const events: Event[] = []
    for await (const event of await client.responses.create({ model: 'scripted', input: 'Hi', stream: true }))
      events.push(event)
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, index) => index))
    expect([...new Set(events.map(({ type }) => type))]).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(textOf(events)).toBe('Long words of different sizes.')
    const last = events.at(-1)
    const id = last?.type === 'response.completed' ? last.response.id : ''
    // The same events, however often they are read, whole or from any point on.
    const again = await Array.fromAsync(await client.responses.retrieve(id, { stream: true }))
    expect(again).toEqual(
      events.map((event) => expect.objectContaining({ type: event.type, sequence_number: event.sequence_number })),
    )
    expect(textOf(again)).toBe(textOf(events))
    const rest = await Array.fromAsync(await client.responses.retrieve(id, { stream: true, starting_after: 6 }))
    expect(rest).toEqual(again.slice(7))
  })

  it('work with the stream helper and parse', async () => {
    const { client } = await v1Client(service)
    service.model.reply({ text: ['One', ' two'] })
    const stream = client.responses.stream({ model: 'scripted', input: 'Count' })
    const deltas: string[] = []
    stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta))
    const final = await stream.finalResponse()
    expect(final.output_text).toBe('One two')
    expect(deltas.join('')).toBe('One two')

    const replayed = client.responses.stream({ response_id: final.id, starting_after: 4 })
    const rest: Event[] = []
    replayed.on('event', (event) => rest.push(event))
    expect((await replayed.finalResponse()).output_text).toBe('One two')
    expect(rest[0]?.sequence_number).toBe(5)

    service.model.reply({ text: '{"city":"Bonn"}' })
    const format = {
      type: 'json_schema',
      name: 'place',
      strict: true,
      schema: { type: 'object', properties: { city: { type: 'string' } } },
    } as const
    const parsed = await client.responses.parse({ model: 'scripted', input: 'Where?', text: { format } })
    expect(parsed.output_parsed).toEqual({ city: 'Bonn' })
    expect(parsed.text).toEqual({ format })
    expect(service.model.requests.at(-1)?.body['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'place', strict: true, schema: format.schema },
    })
    service.model.reply({ text: '{}' })
    await client.responses.create({ model: 'scripted', input: 'Where?', text: { format: { type: 'json_object' } } })
    expect(service.model.requests.at(-1)?.body['response_format']).toEqual({ type: 'json_object' })
  })

  it('go on from a previous response, also twice from the same one', async () => {
    const { client } = await v1Client(service)
    const asked = () => service.model.requests.at(-1)?.body.messages.map(({ content }) => content)
    for (const text of ['A1', 'A2', 'A3']) service.model.reply({ text })
    const first = await client.responses.create({ model: 'scripted', input: 'Q1', instructions: 'Only once.' })
    const second = await client.responses.create({ model: 'scripted', input: 'Q2', previous_response_id: first.id })
    expect(second.previous_response_id).toBe(first.id)
    expect(asked()).toEqual(['Q1', 'A1', 'Q2'])
    const branch = await client.responses.create({ model: 'scripted', input: 'Q3', previous_response_id: first.id })
    expect(asked()).toEqual(['Q1', 'A1', 'Q3'])
    // Only what each request brought is its input.
    expect((await client.responses.inputItems.list(branch.id)).data).toMatchObject([{ content: [{ text: 'Q3' }] }])
    // A deleted response does not take away what others have copied.
    await client.responses.delete(first.id)
    expect((await refusalOf(client.responses.retrieve(first.id))).status).toBe(404)
    service.model.reply({ text: 'A4' })
    await client.responses.create({ model: 'scripted', input: 'Q4', previous_response_id: second.id })
    expect(asked()).toEqual(['Q1', 'A1', 'Q2', 'A2', 'Q4'])
    const refusal = await refusalOf(
      client.responses.create({ model: 'scripted', input: 'Q', previous_response_id: first.id }),
    )
    expect([refusal.status, refusal.param]).toEqual([404, 'previous_response_id'])
  })

  it('store a chain once, whatever is deleted of it, and branches by themselves', async () => {
    const { client, owner } = await v1Client(service)
    const own = { user_id: owner.userId }
    const stored = async () => {
      const runs = await service.collections.runs.find(own).lean()
      const threads = await service.collections.threads.find({ ...own, name: 'Response' }).lean()
      const log = { thread_id: { $in: threads.map(({ _id }) => _id) } }
      const entries = await service.collections.checkpoints.find(log).lean()
      const texts = [...runs.map((run) => run.input_json), ...entries.map((entry) => entry.messages_json)]
      return { threads: threads.length, bytes: texts.join('').length }
    }
    const asked = () => service.model.requests.at(-1)?.body.messages.map(({ content }) => String(content).slice(0, 3))
    const long = `Q1 ${'x'.repeat(200_000)}`
    const chain: string[] = []
    for (const input of [long, 'Q2', 'Q3', 'Q4', 'Q5']) {
      service.model.reply({ text: input.replace('Q', 'A').slice(0, 2) })
      const previous_response_id = chain.at(-1) ?? null
      chain.push((await client.responses.create({ model: 'scripted', input, previous_response_id })).id)
    }
    expect(asked()).toEqual(['Q1 ', 'A1', 'Q2', 'A2', 'Q3', 'A3', 'Q4', 'A4', 'Q5'])
    // The long question is in its run's record and in the log, as the input of any run.
    expect((await stored()).threads).toBe(1)
    expect((await stored()).bytes).toBeLessThan(2.1 * long.length)
    expect((await client.responses.inputItems.list(chain[4] ?? '')).data).toMatchObject([{ content: [{ text: 'Q5' }] }])

    // Of two that continue the same response at the same time, each sees its own question only.
    const [, , , , last = ''] = chain
    for (const text of ['B1', 'B2']) service.model.reply({ text })
    const before = service.model.requests.length
    const branches = await Promise.all(
      ['Q6', 'Q7'].map((input) => client.responses.create({ model: 'scripted', input, previous_response_id: last })),
    )
    const questions = service.model.requests.slice(before).map(({ body }) => body.messages.length)
    expect(questions).toEqual([11, 11])
    expect((await stored()).threads).toBe(2)

    const remove = async (id: string) => Reflect.get(Object(await client.responses.delete(id)), 'receipt_id')
    for (const id of chain) {
      expect(await remove(id)).toBeUndefined()
      expect((await refusalOf(client.responses.retrieve(id))).status).toBe(404)
    }
    service.model.reply({ text: 'A8' })
    const [one = { id: '' }, other = { id: '' }] = branches
    const next = await client.responses.create({ model: 'scripted', input: 'Q8', previous_response_id: one.id })
    expect(asked()).toHaveLength(13)
    const receipts = [await remove(one.id), await remove(other.id), await remove(next.id)]
    expect(receipts.filter((id) => id !== undefined)).toHaveLength(2)
    await eventually('nothing to be left', async () => (await stored()).bytes === 0)
  })

  it('bring functions, whose results the next request sends', async () => {
    const { client } = await v1Client(service)
    const weather = {
      type: 'function',
      name: 'get_weather',
      description: 'The weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      strict: true,
    } as const
    service.model.reply({
      text: 'Let me see.',
      toolCalls: [
        { id: 'call_a', name: 'get_weather', arguments: { city: 'Bonn' } },
        { id: 'call_b', name: 'get_weather', arguments: { city: 'Köln' } },
      ],
    })
    const events: Event[] = []
    const stream = await client.responses.create({
      model: 'scripted',
      input: 'Weather?',
      tools: [weather],
      tool_choice: 'required',
      parallel_tool_calls: true,
      stream: true,
    })
    for await (const event of stream) events.push(event)
    expect(service.model.requests.at(-1)?.body).toMatchObject({
      tool_choice: 'required',
      parallel_tool_calls: true,
      tools: [{ type: 'function', function: { name: 'get_weather', strict: true } }],
    })
    const last = events.at(-1)
    if (last?.type !== 'response.completed') throw new Error('the response did not complete')
    const calls = last.response.output.slice(1)
    expect(calls).toMatchObject([
      {
        type: 'function_call',
        call_id: 'call_a',
        name: 'get_weather',
        arguments: '{"city":"Bonn"}',
        status: 'completed',
      },
      { type: 'function_call', call_id: 'call_b', name: 'get_weather', arguments: '{"city":"Köln"}' },
    ])
    const pieces = events.flatMap((event) =>
      event.type === 'response.function_call_arguments.delta'
        ? event.delta
        : event.type === 'response.function_call_arguments.done'
          ? event.arguments
          : [],
    )
    expect(pieces).toEqual(['{"city":', '"Bonn"}', '{"city":"Bonn"}', '{"city":', '"Köln"}', '{"city":"Köln"}'])
    for (const text of ['Sunny.', 'Sunny.']) service.model.reply({ text })
    const outputs = ['call_a', 'call_b'].map((id) => ({
      type: 'function_call_output' as const,
      call_id: id,
      output: `sun in ${id}`,
    }))
    const next = await client.responses.create({
      model: 'scripted',
      previous_response_id: last.response.id,
      input: outputs,
      tools: [weather],
    })
    expect(next.output_text).toBe('Sunny.')
    const history = service.model.requests.at(-1)?.body.messages
    expect(history).toMatchObject([
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: 'Let me see.', tool_calls: [{ id: 'call_a' }, { id: 'call_b' }] },
      { role: 'tool', tool_call_id: 'call_a', content: 'sun in call_a' },
      { role: 'tool', tool_call_id: 'call_b', content: 'sun in call_b' },
    ])
    // The same without anything stored: the client sends all items back.
    const whole = await client.responses.create({
      model: 'scripted',
      store: false,
      input: [
        { role: 'user', content: 'Weather?' },
        ...last.response.output,
        ...outputs,
      ] as OpenAI.Responses.ResponseInput,
      tools: [weather],
    })
    expect(whole).toMatchObject({ store: false, output_text: 'Sunny.' })
    expect(service.model.requests.at(-1)?.body.messages).toEqual(history)
    expect((await refusalOf(client.responses.retrieve(whole.id))).status).toBe(404)
    const stray = await refusalOf(client.responses.create({ model: 'scripted', input: outputs }))
    expect([stray.status, stray.param]).toEqual([400, 'input[0].call_id'])
  })

  it('stream the arguments of functions while the model writes them', async () => {
    const { client } = await v1Client(service)
    const gate = Promise.withResolvers<void>()
    service.model.reply({
      toolCalls: [{ name: 'note', arguments: ['{"text": "Half of the ', gate.promise, 'words"}'] }],
    })
    const stream = await client.responses.create({
      model: 'scripted',
      input: 'Note this',
      tools: [{ type: 'function', name: 'note', parameters: { type: 'object', properties: {} }, strict: false }],
      stream: true,
    })
    const events: Event[] = []
    for await (const event of stream) {
      events.push(event)
      // The rest comes only after the client has seen the beginning.
      if (argumentsOf(events).includes('Half')) gate.resolve()
    }
    expect(argumentsOf(events)).toBe('{"text":"Half of the words"}')
    const last = events.at(-1)
    if (last?.type !== 'response.completed') throw new Error('the response did not complete')
    expect(last.response.output).toMatchObject([{ type: 'function_call', arguments: argumentsOf(events) }])
    const again = await Array.fromAsync(await client.responses.retrieve(last.response.id, { stream: true }))
    expect(again.map(({ type }) => type)).toEqual(events.map(({ type }) => type))
  })

  it('run in the background, and are cancelled', async () => {
    const { client } = await v1Client(service)
    const gate = Promise.withResolvers<void>()
    service.model.reply({ text: ['Slow ', gate.promise, 'answer'] })
    const begun = await client.responses.create({ model: 'scripted', input: 'Hi', background: true })
    expect(['queued', 'in_progress']).toContain(begun.status)
    const reading = Array.fromAsync(await client.responses.retrieve(begun.id, { stream: true }))
    gate.resolve()
    const events = await reading
    expect(events.slice(0, 3).map(({ type }) => type)).toEqual([
      'response.created',
      'response.queued',
      'response.in_progress',
    ])
    expect(textOf(events)).toBe('Slow answer')
    expect(await client.responses.retrieve(begun.id)).toMatchObject({ status: 'completed', background: true })

    const never = Promise.withResolvers<void>()
    const second = service.model.reply({ text: ['Half of ', never.promise, 'it'] })
    const stopped = await client.responses.create({ model: 'scripted', input: 'Hi', background: true })
    await second.arrived
    expect(await client.responses.cancel(stopped.id)).toMatchObject({ status: 'cancelled' })
    never.resolve()
    expect(await client.responses.cancel(stopped.id)).toMatchObject({ status: 'cancelled', error: null })
    const end = (await Array.fromAsync(await client.responses.retrieve(stopped.id, { stream: true }))).at(-1)
    expect(end).toMatchObject({ type: 'response.failed', response: { status: 'cancelled' } })
  })

  it('end as incomplete when the model is cut off or its tokens are spent, and as failed when it fails', async () => {
    const { client, owner } = await v1Client(service)
    service.model.reply({ text: 'Half', finishReason: 'length' })
    expect(await client.responses.create({ model: 'scripted', input: 'Hi', max_output_tokens: 1 })).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output_text: 'Half',
    })
    // The tokens are used up before the final answer.
    const config = { 'type==agent/tools': [{ type: 'http_request' }] }
    const { assistant_id: caller } = await owner.post('/assistants/', { name: 'Caller', config })
    service.model.reply({
      toolCalls: [{ name: 'http_request', arguments: { method: 'GET', url: 'http://127.0.0.1:9/' } }],
      usage: { prompt_tokens: 10, completion_tokens: 300 },
    })
    const spent = await client.responses.create({ model: String(caller), input: 'Look', max_output_tokens: 256 })
    expect(spent).toMatchObject({
      status: 'incomplete',
      error: null,
      incomplete_details: { reason: 'max_output_tokens' },
      usage: { output_tokens: 300 },
    })
    service.model.reply({ status: 400, errorMessage: 'not like this' })
    const events = await Array.fromAsync(
      await client.responses.create({ model: 'scripted', input: 'Hi', stream: true }),
    )
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'invalid_prompt' } },
    })
  })

  it('are cut to the window of the model, or refused when nothing may be cut', async () => {
    const { client } = await v1Client(service)
    // The model of the name gpt-4 has 8,192 tokens.
    const { id } = await client.beta.assistants.create({ model: 'gpt-4', name: 'Small' })
    const long = Array.from({ length: 3 }, (_, index) => ({
      role: 'user' as const,
      content: `${index} word`.repeat(3000),
    }))
    const ask = (truncation: 'auto' | 'disabled', input: OpenAI.Responses.ResponseInput = long) =>
      client.responses.create({ model: id, input, truncation })
    service.model.reply({ text: 'Cut' })
    expect(await ask('auto')).toMatchObject({ output_text: 'Cut', truncation: 'auto' })
    expect(service.model.requests.at(-1)?.body.messages).toHaveLength(1)
    const before = service.model.requests.length
    const refusal = await refusalOf(ask('disabled'))
    expect([refusal.status, refusal.code]).toEqual([400, 'context_length_exceeded'])
    const streamed = await Array.fromAsync(
      await client.responses.create({ model: id, input: long, truncation: 'disabled', stream: true }),
    )
    expect(streamed.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error: { code: 'context_length_exceeded' } },
    })
    expect(service.model.requests.length).toBe(before)
    service.model.reply({ text: 'Fits' })
    expect(await ask('disabled', [{ role: 'user', content: 'Hi' }])).toMatchObject({
      output_text: 'Fits',
      truncation: 'disabled',
    })
  })

  it('refuse what is not supported, by its name', async () => {
    const { client } = await v1Client(service)
    const refused = async (body: object) => {
      const error = await refusalOf(
        client.responses.create({ model: 'scripted', input: 'Hi', ...body } as OpenAI.Responses.ResponseCreateParams),
      )
      return [error.status, error.param, error.code]
    }
    const before = service.model.requests.length
    const unsupported = 'unsupported_parameter'
    const image = { type: 'input_image', detail: 'auto' }
    const sound = { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } }
    const inPrivate = { ...image, image_url: 'http://10.0.0.1/a.png' }
    const cases: [object, string, string][] = [
      [{ include: ['message.feelings'] }, 'include[0]', unsupported],
      [{ reasoning: { summary: 'long' } }, 'reasoning.summary', 'invalid_value'],
      [{ prompt: { id: 'p' } }, 'prompt', unsupported],
      [{ tools: [{ type: 'code_interpreter', container: 'cntr_x' }] }, 'tools[0].container', 'invalid_value'],
      [{ tools: [{ type: 'image_generation', size: 'auto' }] }, 'tools[0].type', unsupported],
      [
        { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] },
        'tools[0].environment.type',
        unsupported,
      ],
      [{ tools: [{ type: 'web_search' }], tool_choice: 'required' }, 'tool_choice', unsupported],
      [{ tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }, 'tool_choice', unsupported],
      [
        { tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://a.example', require_approval: 'seldom' }] },
        'tools[0].require_approval',
        'invalid_value',
      ],
      [{ context_management: [{ type: 'clearing' }] }, 'context_management[0].type', unsupported],
      [{ input: [{ type: 'compaction', encrypted_content: 'x' }] }, 'input[0].encrypted_content', 'invalid_value'],
      [{ tools: [{ type: 'function' }] }, 'tools[0].name', 'missing_required_parameter'],
      [{ tools: [{ type: 'function', name: 'f', server_url: 'x' }] }, 'tools[0].server_url', 'unknown_parameter'],
      [{ tools: [{ type: 'function', name: 'f', color: 'red' }] }, 'tools[0].color', 'unknown_parameter'],
      [{ tool_choice: 'required' }, 'tool_choice', 'invalid_value'],
      [{ tool_choice: { type: 'web_search' } }, 'tool_choice.type', 'invalid_value'],
      [{ tool_choice: { type: 'mcp', server_label: 'a' } }, 'tool_choice.server_label', 'invalid_value'],
      [{ tool_choice: { type: 'custom', name: 'a' } }, 'tool_choice.name', 'invalid_value'],
      [{ tool_choice: { type: 'computer' } }, 'tool_choice.type', unsupported],
      [{ tool_choice: { type: 'function', name: 'g' } }, 'tool_choice.name', 'invalid_value'],
      [{ input: [{ role: 'user', content: [sound] }] }, 'input[0].content[0].type', unsupported],
      [{ input: [{ role: 'user', content: [image] }] }, 'input[0].content[0].image_url', 'missing_required_parameter'],
      [{ input: [{ role: 'user', content: [inPrivate] }] }, 'input[0].content[0].image_url', 'invalid_value'],
      [
        { input: [{ role: 'user', content: [{ type: 'input_file', file_data: 'AAAA' }] }] },
        'input[0].content[0].file_data',
        'invalid_value',
      ],
      [{ input: [{ role: 'system', content: [inPrivate] }] }, 'input[0].content[0].type', unsupported],
      [
        { input: [{ role: 'user', content: [{ ...image, detail: 'original', image_url: 'data:' }] }] },
        'input[0].content[0].detail',
        unsupported,
      ],
      [{ input: [{ type: 'computer_call_output', output: 'x' }] }, 'input[0].type', unsupported],
      [
        { input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: '[' }] },
        'input[0].arguments',
        'invalid_value',
      ],
      [{ input: [{ role: 'nobody', content: 'x' }] }, 'input[0].role', 'invalid_value'],
      [{ input: [{ type: 'item_reference', id: 'msg_unknown' }] }, 'input[0].id', 'invalid_value'],
      [{ input: undefined }, 'input', 'missing_required_parameter'],
      [{ background: true, store: false }, 'store', 'invalid_value'],
      [{ reasoning: { effort: 'extreme' } }, 'reasoning.effort', 'invalid_value'],
      [{ color: 'red' }, 'color', 'unknown_parameter'],
    ]
    expect(await refused({ input: [{ role: 'user', content: [{ ...image, file_id: 'nothing' }] }] })).toEqual([
      404,
      null,
      'not_found',
    ])
    for (const [body, param, code] of cases) expect(await refused(body), param).toEqual([400, param, code])
    expect(service.model.requests.length).toBe(before)
  })

  it('survive hostile input', async () => {
    const { client, owner } = await v1Client(service)
    const post = (body: unknown) => owner.call('POST', '/v1/responses', body)
    let deep: object = {}
    for (let level = 0; level < 80; level++) deep = { deep }
    const cases: unknown[] = [
      { model: 'scripted', input: 'Hi', metadata: deep },
      { model: 'scripted', input: [{ role: 'user', content: 'x', results: [deep] }] },
      { model: 'scripted', input: Array.from({ length: 1001 }, () => ({ role: 'user', content: 'x' })) },
      { model: 'scripted', input: [{ role: 'user', content: 'x'.repeat(2 * 1024 * 1024 + 1) }] },
      {
        model: 'scripted',
        input: 'Hi',
        tools: Array.from({ length: 129 }, (_, n) => ({ type: 'function', name: `f${n}` })),
      },
      {
        model: 'scripted',
        input: 'Hi',
        tools: [{ type: 'function', name: 'f', parameters: { x: 'x'.repeat(70_000) } }],
      },
      { model: 'x'.repeat(501), input: 'Hi' },
      [],
      null,
    ]
    for (const body of cases) {
      const { status, body: answer } = await post(body)
      expect(status).toBe(400)
      expect(answer.error).toMatchObject({ type: 'invalid_request_error', message: expect.any(String) })
    }
    for (const id of ['resp_', 'resp_../../x', 'x'.repeat(200), 'resp_%00'])
      expect((await refusalOf(client.responses.retrieve(id))).status).toBe(404)
  })

  it('show what a model thought, and give it back to the model, sealed for a client that keeps it', async () => {
    const { client } = await v1Client(service)
    const chunk = (delta: object, more: object = {}) =>
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, ...more }] })}\n\n`
    const call = { index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const think = () =>
      service.model.reply({
        raw: [
          chunk({ role: 'assistant', reasoning_content: 'I should ' }),
          chunk({ reasoning_content: 'look.' }),
          chunk({ tool_calls: [call] }),
          chunk({}, { finish_reason: 'tool_calls' }),
          'data: [DONE]\n\n',
        ],
      })
    const tools = [{ type: 'function' as const, name: 'look', parameters: {}, strict: false }]
    const asked = { model: 'scripted', input: 'Look', tools, store: false }
    const include = ['reasoning.encrypted_content' as const]
    think()
    const events: Event[] = []
    const summarised = { ...asked, include, reasoning: { summary: 'auto' as const }, stream: true as const }
    for await (const event of await client.responses.create(summarised)) events.push(event)
    const last = events.at(-1)
    if (last?.type !== 'response.completed') throw new Error('the response did not complete')
    const output = [
      {
        type: 'reasoning',
        id: expect.stringMatching(/^rs_/),
        summary: [{ type: 'summary_text', text: 'I should look.' }],
        encrypted_content: expect.stringMatching(/^v1/),
      },
      { type: 'function_call', name: 'look' },
    ]
    expect(last.response.output).toMatchObject(output)
    const done = events.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []))
    expect(done).toMatchObject(output)
    const said = events.map((event) => (event.type === 'response.reasoning_summary_text.delta' ? event.delta : ''))
    expect(said.join('')).toBe('I should look.')
    const types = new Set(events.map(({ type }) => type))
    for (const type of ['part.added', 'text.done', 'part.done'])
      expect(types).toContain(`response.reasoning_summary_${type}`)

    const thoughtsOf = () =>
      service.model.requests.at(-1)?.body.messages.map((message) => Reflect.get(message, 'reasoning_content'))
    const [thought, made] = done as [{ id: string; type: 'reasoning'; encrypted_content: string }, object]
    const result = { type: 'function_call_output', call_id: 'c1', output: 'A cat.' }
    const back = async (first: object) => {
      service.model.reply({ text: 'A cat.' })
      const input = [{ role: 'user', content: 'Look' }, first, made, result] as OpenAI.Responses.ResponseInput
      await client.responses.create({ ...asked, input })
      return thoughtsOf()?.[1]
    }
    const sealed = { type: 'reasoning', id: thought.id, summary: [], encrypted_content: thought.encrypted_content }
    expect(await back(sealed)).toBe('I should look.')
    // What is damaged, or comes from elsewhere, is ignored.
    expect(await back({ ...sealed, encrypted_content: `${thought.encrypted_content}x` })).toBe(undefined)
    const foreign = (await v1Client(service)).client
    service.model.reply({ text: 'A cat.' })
    await foreign.responses.create({ ...asked, input: [sealed, made, result] as OpenAI.Responses.ResponseInput })
    expect(thoughtsOf()?.[0]).toBe(undefined)

    think()
    const plain = await client.responses.create({ ...asked, store: true })
    expect(plain.output[0]).toMatchObject({
      summary: [],
      content: [{ type: 'reasoning_text', text: 'I should look.' }],
    })
    expect(plain.output[0]).not.toHaveProperty('encrypted_content')
    expect((await client.responses.retrieve(plain.id)).output).toEqual(plain.output)
    const again = await Array.fromAsync(await client.responses.retrieve(plain.id, { stream: true }))
    expect(again.map((event) => (event.type === 'response.reasoning_text.delta' ? event.delta : '')).join('')).toBe(
      'I should look.',
    )
  })

  it('take an output that was said before as said, and refuse another one for the same call', async () => {
    const { client } = await v1Client(service)
    const tools = [{ type: 'function' as const, name: 'look', parameters: {}, strict: false }]
    service.model.reply({ toolCalls: [{ id: 'c1', name: 'look', arguments: {} }] })
    const first = await client.responses.create({ model: 'scripted', input: 'Hi', tools })
    const output = { type: 'function_call_output' as const, call_id: 'c1', output: 'sunny' }
    service.model.reply({ text: 'It is sunny.' })
    const second = await client.responses.create({
      model: 'scripted',
      input: [output],
      previous_response_id: first.id,
      tools,
    })
    service.model.reply({ text: 'Still sunny.' })
    const go = { model: 'scripted', previous_response_id: second.id, tools }
    const more = { role: 'user' as const, content: 'And now?' }
    expect((await client.responses.create({ ...go, input: [output, more] })).output_text).toBe('Still sunny.')
    const results = service.model.requests.at(-1)?.body.messages.filter(({ role }) => role === 'tool')
    expect(results).toHaveLength(1)
    const other = await refusalOf(client.responses.create({ ...go, input: [{ ...output, output: 'rain' }, more] }))
    expect([other.status, other.param]).toEqual([400, 'input[0].call_id'])
  })

  it('belong to one project', async () => {
    const { client, owner } = await v1Client(service)
    service.model.reply({ text: 'Secret' })
    const { id, output } = await client.responses.create({ model: 'scripted', input: 'Hi' })
    const { project_id: other } = await owner.post('/projects/', { name: 'Other' })
    const { jwt_token: token } = await owner.get(`/projects/${String(other)}`)
    const second = clientWith(service, String(token))
    const item = output[0]?.id ?? ''
    for (const request of [
      () => second.responses.retrieve(id),
      () => second.responses.cancel(id),
      () => second.responses.delete(id),
      () => second.responses.inputItems.list(id),
      () => second.responses.create({ model: 'scripted', input: 'Hi', previous_response_id: id }),
    ])
      expect((await refusalOf(request())).status).toBe(404)
    const reference = [{ type: 'item_reference' as const, id: item }]
    expect((await refusalOf(second.responses.create({ model: 'scripted', input: reference }))).status).toBe(400)
    service.model.reply({ text: 'Again' })
    await client.responses.create({ model: 'scripted', input: [...reference, { role: 'user', content: 'Go on' }] })
    expect(service.model.requests.at(-1)?.body.messages.map(({ content }) => content)).toEqual(['Secret', 'Go on'])
  })
})

function argumentsOf(events: Event[]): string {
  return events.map((event) => (event.type === 'response.function_call_arguments.delta' ? event.delta : '')).join('')
}

function textOf(events: Event[]): string {
  return events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('')
}
