import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHttpServer } from '../support/http-server.ts'
import { useSharedService } from '../support/shared-service.ts'
import { conversation } from './support.ts'

const withHttp = { 'type==agent/tools': [{ type: 'http_request' }] }

describe('tools in a run', () => {
  let target: Awaited<ReturnType<typeof startHttpServer>>
  const asked: string[] = []
  /** Holds up the next answer. */
  let beforeAnswer = async () => {}

  beforeAll(async () => {
    target = await startHttpServer(async (request, response) => {
      await beforeAnswer()
      beforeAnswer = async () => {}
      asked.push(`${request.method} ${request.url}`)
      const long = request.url?.startsWith('/long') ? ' and more of it'.repeat(2000) : ''
      response.writeHead(200, { 'content-type': 'text/plain' }).end(`answer to ${request.url}${long}`)
    })
  })
  afterAll(() => target.close())
  const service = useSharedService()

  it('streams the growing arguments of a call, its result and the final answer', async () => {
    const talk = await conversation(service, withHttp)
    const args = JSON.stringify({ method: 'GET', url: `${target.url}/weather` })
    service.model.reply({
      text: 'Let me look.',
      toolCalls: [
        { id: 'call_a', name: 'http_request', arguments: [args.slice(0, 12), args.slice(12, 30), args.slice(30)] },
      ],
    })
    service.model.reply({ text: ['It is ', 'sunny.'], usage: { prompt_tokens: 30, completion_tokens: 4 } })
    const run = await talk.stream('Weather?')

    expect(run.end).toBe('end')
    expect(run.messages.map(({ type }) => type)).toEqual(['AIMessage', 'ToolMessage', 'AIMessage'])
    const [call, result, answer] = run.messages
    expect(call.data).toMatchObject({
      content: 'Let me look.',
      tool_calls: [
        {
          id: 'call_a',
          name: 'http_request',
          args: { method: 'GET', url: `${target.url}/weather` },
          type: 'tool_call',
        },
      ],
    })
    expect(result.data).toMatchObject({ tool_call_id: 'call_a', name: 'http_request' })
    expect(result.data.content).toContain('answer to /weather')
    expect(answer.data.content).toBe('It is sunny.')
    for (const state of run.states.flat()) {
      for (const shown of state.data.tool_calls ?? []) expect(shown.args).toBeTypeOf('object')
    }
    const second = service.model.requests.at(-1)?.body.messages ?? []
    expect(second.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect((await talk.messages()).map(({ type }) => type)).toEqual([
      'HumanMessage',
      'AIMessage',
      'ToolMessage',
      'AIMessage',
    ])
    const { usage } = await talk.client.get(`/runs/${run.runId}`)
    expect(usage).toEqual({ prompt_tokens: 40, completion_tokens: 9, total_tokens: 49 })
  })

  it('shows the model its question in each step, however long the results are', async () => {
    const talk = await conversation(service, { ...withHttp, 'type==agent/model': 'gpt-4' })
    for (const path of ['/long-1', '/long-2'])
      service.model.reply({
        toolCalls: [{ id: 'c', name: 'http_request', arguments: { method: 'GET', url: `${target.url}${path}` } }],
      })
    const last = service.model.reply({ text: 'Seen.' })
    expect((await talk.stream('What do they say?')).end).toBe('end')
    const { messages } = (await last.arrived).body
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool'])
    expect(messages[0]?.content).toBe('What do they say?')
    expect(messages[2]?.content).toMatch(/answer to \/long-1.*\[Cut here: the conversation is long/s)
    expect(messages[4]?.content).toMatch(/answer to \/long-2/)
    // The thread keeps all of it.
    expect((await talk.messages())[2].data.content.length).toBeGreaterThan(20_000)
  })

  it('passes numbers on with the digits that the model wrote', async () => {
    const bodies: string[] = []
    const bank = await startHttpServer(async (request, response) => {
      let body = ''
      for await (const part of request) body += String(part)
      bodies.push(body)
      response.end('paid')
    })
    const talk = await conversation(service, withHttp)
    const numbers = '{"account":12345678901234567890,"rate":1.10}'
    const args = `{"method": "POST", "url": "${bank.url}", "body": ${numbers}}`
    service.model.reply({ toolCalls: [{ id: 'c', name: 'http_request', arguments: args }] })
    const last = service.model.reply({ text: 'Paid.' })
    const run = await talk.client.fetch('POST', '/runs/stream', talk.payload('Pay'))
    const events = await run.text()
    await bank.close()
    expect(bodies).toEqual([numbers])
    expect(events).toContain(numbers)
    expect((await last.arrived).body.messages[1]?.tool_calls?.[0]?.function.arguments).toContain(numbers)
    const state = await talk.client.fetch('GET', `/threads/${talk.threadId}/state`)
    expect(await state.text()).toContain(numbers)
  })

  it('shows the model what others add to the thread while a tool is called', async () => {
    const talk = await conversation(service, withHttp)
    service.model.reply({
      toolCalls: [{ id: 'c', name: 'http_request', arguments: { method: 'GET', url: `${target.url}/slow` } }],
    })
    service.model.reply({ text: 'Noted.' })
    const { resolve: arrived, promise: arrival } = Promise.withResolvers<void>()
    const { resolve: release, promise: released } = Promise.withResolvers<void>()
    beforeAnswer = async () => {
      arrived()
      await released
    }
    const running = talk.stream('Look')
    await arrival
    await talk.client.post(`/threads/${talk.threadId}/state`, {
      values: { messages: [{ type: 'human', content: 'And in Paris?' }] },
    })
    release()
    expect((await running).end).toBe('end')
    const shown = service.model.requests.at(-1)?.body.messages ?? []
    expect(shown.map(({ content }) => content)).toContain('And in Paris?')
    expect(shown.map(({ role }) => role).toSorted()).toEqual(['assistant', 'tool', 'user', 'user'])
  })

  it('shows results in the thread before the model has answered them, and keeps them before what others then add', async () => {
    const talk = await conversation(service, withHttp)
    service.model.reply({
      toolCalls: [{ id: 'c', name: 'http_request', arguments: { method: 'GET', url: `${target.url}/known` } }],
    })
    const { resolve: release, promise: released } = Promise.withResolvers<void>()
    const { arrived } = service.model.reply({ text: ['Seen', released] })
    const running = talk.stream('Look')
    await arrived
    const kinds = async () => (await talk.messages()).map(({ type }) => type)
    const begun = ['HumanMessage', 'AIMessage', 'ToolMessage']
    expect(await kinds()).toEqual(begun)
    const { runs } = await talk.client.get(`/threads/${talk.threadId}/runs`)
    const run = await talk.client.get(`/runs/${runs[0].run_id}`)
    expect(run.output.map(({ type }: { type: string }) => type)).toEqual(['AIMessage', 'ToolMessage'])
    await talk.client.post(`/threads/${talk.threadId}/state`, { values: [{ type: 'human', content: 'Added' }] })
    expect(await kinds()).toEqual([...begun, 'HumanMessage'])
    release()
    expect((await running).end).toBe('end')
    expect(await kinds()).toEqual([...begun, 'HumanMessage', 'AIMessage'])
  })

  it('executes several calls of one message, gives results in order, and reports invalid calls to the model', async () => {
    const talk = await conversation(service, withHttp)
    service.model.reply({
      toolCalls: [
        { id: 'c1', name: 'http_request', arguments: { method: 'GET', url: `${target.url}/one` } },
        { id: 'c2', name: 'http_request', arguments: { method: 'SHOUT', url: `${target.url}/two` } },
        { id: 'c3', name: 'nothing_like_it', arguments: {} },
        { id: 'c4', name: 'http_request', arguments: '{"method": "GET", "url": ' },
      ],
    })
    service.model.reply({ text: 'Done.' })
    const run = await talk.stream('Do all')
    const results = run.messages.filter(({ type }) => type === 'ToolMessage')
    expect(results.map(({ data }) => data.tool_call_id)).toEqual(['c1', 'c2', 'c3', 'c4'])
    expect(results[0].data.content).toContain('answer to /one')
    expect(results[1].data.content).toMatch(/not made.*schema/)
    expect(results[2].data.content).toContain('no tool called nothing_like_it')
    expect(results[3].data.content).toMatch(/not made/)
    expect(asked).not.toContain('SHOUT /two')
    expect(run.end).toBe('end')
    // The stream and the thread tell which calls brought no answer.
    const failed = (messages: any[]) =>
      messages.filter(({ type }) => type === 'ToolMessage').map(({ data }) => data.failed)
    expect(failed(run.messages)).toEqual([undefined, true, true, true])
    expect(failed(await talk.messages())).toEqual([undefined, true, true, true])
  })

  it('executes at most 16 calls of one answer', async () => {
    const talk = await conversation(service, withHttp)
    service.model.reply({
      toolCalls: Array.from({ length: 20 }, (_, index) => ({
        id: `m${index}`,
        name: 'http_request',
        arguments: { method: 'GET', url: `${target.url}/many-${index}` },
      })),
    })
    service.model.reply({ text: 'Done.' })
    const run = await talk.stream('Do many')
    expect(run.end).toBe('end')
    expect(asked.filter((line) => line.includes('/many-'))).toHaveLength(16)
    const results = run.messages.filter(({ type }) => type === 'ToolMessage')
    expect(results.map(({ data }) => data.tool_call_id)).toEqual(Array.from({ length: 20 }, (_, index) => `m${index}`))
    for (const { data } of results.slice(0, 16)) expect(data.content).toContain('answer to /many-')
    for (const { data } of results.slice(16)) expect(data.content).toMatch(/not made.*at most 16/)
    expect(service.model.requests.at(-1)?.body.messages.filter(({ role }) => role === 'tool')).toHaveLength(20)

    const kept = await service.redis.xRange(`run:{${run.runId}}:stream`, '-', '+')
    const published = (kept ?? []).flatMap(({ message }) => JSON.parse(message['e'] ?? '[]'))
    const shown = published.filter((entry: any) => entry.message?.type === 'ToolMessage')
    // Once by each call, and once more by the next step, for readers that missed some.
    expect(shown).toHaveLength(16 + 20)
  })

  it('says with the run which tools were left out, and why', async () => {
    const gone = { type: 'mcp', config: { name: 'gone', url: 'http://127.0.0.1:9/mcp' } }
    const talk = await conversation(service, { 'type==agent/tools': [gone] })
    service.model.reply({ text: 'I did without.' })
    const { runId } = await talk.stream('Ask them')
    const { warnings } = await talk.client.get(`/runs/${runId}`)
    expect(warnings).toEqual([expect.stringMatching(/^mcp gone: .*could not be reached/)])
  })

  it('ends with a clear error when the steps are used up', async () => {
    const talk = await conversation(service, { ...withHttp, 'type==agent/max_steps': 2 })
    for (const id of ['s1', 's2'])
      service.model.reply({
        toolCalls: [{ id, name: 'http_request', arguments: { method: 'GET', url: `${target.url}/${id}` } }],
      })
    const run = await talk.stream('Forever')
    expect(run.end).toBe('error')
    expect(run.error).toMatchObject({ type: 'max_steps', status_code: 422 })
    const { usage } = await talk.client.get(`/runs/${run.runId}`)
    expect(usage).toEqual({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 })
    expect((await talk.messages()).map(({ type }) => type)).toEqual([
      'HumanMessage',
      'AIMessage',
      'ToolMessage',
      'AIMessage',
      'ToolMessage',
    ])
    expect((await talk.client.get(`/threads/${talk.threadId}`)).status).toBe('error')
  })

  describe('with approval', () => {
    const config = { ...withHttp, 'type==agent/interrupt_before_action': true }
    const ask = (id: string) =>
      service.model.reply({
        toolCalls: [{ id, name: 'http_request', arguments: { method: 'GET', url: `${target.url}/${id}` } }],
      })

    it('waits, and continues when approved', async () => {
      const talk = await conversation(service, config)
      ask('approved')
      const run = await talk.stream('Ask first')
      expect(run.end).toBe('end')
      expect(run.messages.at(-1).data.tool_calls[0].id).toBe('approved')
      expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({ status: 'interrupted' })
      expect((await talk.client.get(`/threads/${talk.threadId}`)).status).toBe('interrupted')
      expect(asked).not.toContain('GET /approved')

      service.model.reply({ text: 'Thanks.' })
      await talk.client.post(`/runs/${run.runId}/resume`, { action: 'approve' })
      const rest = await talk.join(run.runId, run.events.at(-1)?.id)
      expect(rest.events.filter(({ event }) => event === 'end')).toHaveLength(1)
      expect(rest.messages.map(({ type }) => type)).toEqual(['ToolMessage', 'AIMessage'])
      expect(asked).toContain('GET /approved')
      const whole = await talk.join(run.runId)
      expect(whole.events.filter(({ event }) => event === 'end')).toHaveLength(1)
      expect(whole.messages.map(({ type }) => type)).toEqual(['AIMessage', 'ToolMessage', 'AIMessage'])
      await talk.client.post(`/runs/${run.runId}/resume`, { action: 'approve' }, 409)
    })

    it('waits for a tool that asks, whatever the assistant does', async () => {
      const talk = await conversation(service, { 'type==agent/tools': [{ type: 'http_request', ask: true }] })
      ask('asking')
      const run = await talk.stream('Ask first')
      expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({ status: 'interrupted' })
      expect(asked).not.toContain('GET /asking')
      service.model.reply({ text: 'Thanks.' })
      await talk.client.post(`/runs/${run.runId}/resume`, { action: 'approve' })
      expect((await talk.join(run.runId, run.events.at(-1)?.id)).end).toBe('end')
      expect(asked).toContain('GET /asking')
    })

    it('does not call a tool of an assistant that was suspended meanwhile', async () => {
      const talk = await conversation(service, config)
      ask('suspended')
      const run = await talk.stream('Ask first')
      // As a suspension leaves it before it has reached the runs.
      await service.collections.assistants.updateOne({ _id: talk.assistantId }, { $set: { suspended: true } })
      await talk.client.post(`/runs/${run.runId}/resume`, { action: 'approve' })
      expect((await talk.join(run.runId, run.events.at(-1)?.id)).end).toBe('error')
      expect(asked).not.toContain('GET /suspended')
    })

    it('gives the model the message of a rejection', async () => {
      const talk = await conversation(service, config)
      ask('rejected')
      const run = await talk.stream('Ask first')
      service.model.reply({ text: 'Understood.' })
      await talk.client.post(`/runs/${run.runId}/resume`, { action: 'reject', message: 'too risky' })
      const rest = await talk.join(run.runId, run.events.at(-1)?.id)
      expect(rest.messages[0].data.content).toContain('too risky')
      expect(rest.end).toBe('end')
      expect(asked).not.toContain('GET /rejected')
    })

    it('executes and shows edited arguments', async () => {
      const talk = await conversation(service, config)
      ask('before-edit')
      const run = await talk.stream('Ask first')
      await talk.client.post(`/runs/${run.runId}/resume`, { action: 'edit' }, 422)
      service.model.reply({ text: 'Fine.' })
      await talk.client.post(`/runs/${run.runId}/resume`, {
        action: 'edit',
        args: { method: 'GET', url: `${target.url}/after-edit` },
      })
      expect((await talk.join(run.runId, run.events.at(-1)?.id)).end).toBe('end')
      expect(asked).toContain('GET /after-edit')
      expect(asked).not.toContain('GET /before-edit')
      const [, call] = await talk.messages()
      expect(call.data.tool_calls[0].args.url).toBe(`${target.url}/after-edit`)
    })

    it('keeps the digits of numbers that a person wrote', async () => {
      const talk = await conversation(service, config)
      ask('before-digits')
      const run = await talk.stream('Ask first')
      const args = `{"method":"POST","url":"${target.url}/digits","body":{"id":9007199254740993,"price":1.10}}`
      service.model.reply({ text: 'Fine.' })
      const answer = await fetch(`${service.url}/runs/${run.runId}/resume`, {
        method: 'POST',
        headers: { authorization: `Bearer ${talk.client.token}`, 'content-type': 'application/json' },
        body: `{"action":"edit","args":${args}}`,
      })
      expect(answer.status).toBe(200)
      expect((await talk.join(run.runId, run.events.at(-1)?.id)).end).toBe('end')
      expect((await service.collections.toolCalls.findOne({ run_id: run.runId }).lean())?.args_json).toBe(args)
      const state = await talk.client.fetch('GET', `/threads/${talk.threadId}/state`)
      expect(await state.text()).toContain('"body":{"id":9007199254740993,"price":1.10}')
    })

    it('continues only when every call is decided, each once', async () => {
      const talk = await conversation(service, config)
      const get = (path: string) => ({ method: 'GET', url: `${target.url}/${path}` })
      service.model.reply({
        toolCalls: [
          { id: 'first', name: 'http_request', arguments: get('first') },
          { id: 'second', name: 'http_request', arguments: get('second') },
        ],
      })
      const run = await talk.stream('Ask first')
      const resume = (body: object, status = 200) => talk.client.post(`/runs/${run.runId}/resume`, body, status)
      await resume({ action: 'edit', args: get('which') }, 422)
      await resume({ action: 'approve', tool_call_id: 'unknown' }, 422)
      expect(await resume({ action: 'edit', tool_call_id: 'second', args: get('edited') })).toMatchObject({
        status: 'interrupted',
      })
      await resume({ action: 'reject', tool_call_id: 'second' }, 409)
      expect(asked).not.toContain('GET /edited')
      service.model.reply({ text: 'Both done.' })
      expect(await resume({ action: 'approve' })).toMatchObject({ status: 'running' })
      expect((await talk.join(run.runId, run.events.at(-1)?.id)).messages.at(-1).data.content).toBe('Both done.')
      expect(asked).toEqual(expect.arrayContaining(['GET /first', 'GET /edited']))
      expect(asked).not.toContain('GET /second')
      const [, call] = await talk.messages()
      expect(call.data.tool_calls.map(({ args }: any) => new URL(args.url).pathname)).toEqual(['/first', '/edited'])
    })

    it('can be cancelled while it waits', async () => {
      const talk = await conversation(service, config)
      ask('cancelled')
      const run = await talk.stream('Ask first')
      expect(await talk.client.post(`/runs/${run.runId}/cancel`)).toMatchObject({ status: 'cancelled' })
      await talk.client.post(`/runs/${run.runId}/resume`, { action: 'approve' }, 409)
      service.model.reply({ text: 'New start.' })
      const next = await talk.stream('Something else')
      expect(next.end).toBe('end')
      expect((await talk.messages()).map(({ type }) => type)).toEqual([
        'HumanMessage',
        'AIMessage',
        'ToolMessage',
        'HumanMessage',
        'AIMessage',
      ])
      expect(asked).not.toContain('GET /cancelled')
    })
  })
})
