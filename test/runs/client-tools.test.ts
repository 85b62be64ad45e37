import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { threadContract } from '../../domain/contracts/thread.ts'
import { eventually } from '../support/eventually.ts'
import { historyText, recordHistory } from '../support/histories.ts'
import { startHttpServer } from '../support/http-server.ts'
import { useSharedService } from '../support/shared-service.ts'
import { conversation } from './support.ts'

const weather = {
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: true,
}
const calls = (...cities: string[]) => ({
  toolCalls: cities.map((city, index) => ({ id: `w${index}`, name: 'get_weather', arguments: { city } })),
})

describe('functions of the client', () => {
  let target: Awaited<ReturnType<typeof startHttpServer>>

  beforeAll(async () => {
    target = await startHttpServer(async (_request, response) => void response.end('from the server'))
  })
  afterAll(() => target.close())
  const service = useSharedService()
  const serverCall = () => ({ id: 's0', name: 'http_request', arguments: { method: 'GET', url: target.url } })
  const withServerTool = { 'type==agent/tools': [{ type: 'http_request' }] }

  async function historyOf(threadId: string) {
    const handle = service.temporal.workflow.getHandle(threadContract.id({ threadId }))
    await handle.result()
    return handle.fetchHistory()
  }
  const outputs = (...given: [id: string, output: string][]) => ({
    tool_outputs: given.map(([tool_call_id, output]) => ({ tool_call_id, output })),
  })

  it('are answered each, though their ids come again', async () => {
    const talk = await conversation(service)
    const sameIds = (...cities: string[]) => ({
      toolCalls: cities.map((city) => ({ id: 'call_0', name: 'get_weather', arguments: { city } })),
    })
    service.model.reply(sameIds('Paris', 'Rome'))
    const run = await talk.stream('Weather?', { tools: [weather] })
    const waitingCalls = async () => (await talk.client.get(`/runs/${run.runId}`)).waiting_calls
    const [paris, rome] = await waitingCalls()
    service.model.reply(sameIds('Oslo'))
    const given = outputs([paris.tool_call_id, 'Rain'], [rome.tool_call_id, 'Sun'])
    await talk.client.post(`/runs/${run.runId}/resume`, given)
    await talk.join(run.runId, run.events.at(-1)?.id)
    const [oslo] = await waitingCalls()
    const answered = service.model.reply({ text: 'All.' })
    await talk.client.post(`/runs/${run.runId}/resume`, outputs([oslo.tool_call_id, 'Snow']))
    const { messages } = (await answered.arrived).body
    const said = messages.map(({ role, content, tool_calls: made }) =>
      role === 'assistant' ? made?.map(({ function: called }) => called.arguments) : content,
    )
    expect(said).toEqual([
      'Weather?',
      ['{"city":"Paris"}', '{"city":"Rome"}'],
      'Rain',
      'Sun',
      ['{"city":"Oslo"}'],
      'Snow',
    ])
    await talk.join(run.runId)
  })

  it('are offered to the model, and a run waits for the results of their calls', async () => {
    const talk = await conversation(service)
    const asked = service.model.reply(calls('Paris', 'Rome'))
    const run = await talk.stream('Weather?', { tools: [weather], tool_choice: 'required', parallel_tool_calls: true })
    expect(run.end).toBe('end')
    const { body } = await asked.arrived
    expect(body).toMatchObject({
      tools: [{ type: 'function', function: weather }],
      tool_choice: 'required',
      parallel_tool_calls: true,
    })
    const waiting = await talk.client.get(`/runs/${run.runId}`)
    expect(waiting).toMatchObject({ status: 'interrupted', expires_at: null, finish_reason: null })
    expect(waiting.waiting_calls).toEqual([
      { tool_call_id: 'w0', name: 'get_weather', args: { city: 'Paris' }, waits_for: 'output' },
      { tool_call_id: 'w1', name: 'get_weather', args: { city: 'Rome' }, waits_for: 'output' },
    ])

    const resume = `/runs/${run.runId}/resume`
    await talk.client.post(resume, { action: 'approve' }, 409)
    await talk.client.post(resume, {}, 422)
    await talk.client.post(resume, { action: 'approve', ...outputs(['w0', 'x']) }, 422)
    for (const [body, loc] of [
      [outputs(['w0', 'x'], ['w9', 'x']), ['body', 'tool_outputs', 1, 'tool_call_id']],
      [outputs(['w0', 'x'], ['w0', 'x']), ['body', 'tool_outputs', 1, 'tool_call_id']],
    ] as const)
      expect((await talk.client.post(resume, body, 422)).detail[0].loc).toEqual(loc)
    const tooLong = outputs(['w0', 'é'.repeat(1024 * 1024 + 1)])
    expect((await talk.client.post(resume, tooLong, 422)).detail[0].loc).toEqual(['body', 'tool_outputs', 0, 'output'])

    expect(await talk.client.post(resume, outputs(['w1', 'Sun in Rome']))).toMatchObject({ status: 'interrupted' })
    expect((await talk.client.post(resume, outputs(['w1', 'again']), 422)).detail[0].msg).toContain('no waiting call')
    const answered = service.model.reply({ text: 'Sunny.' })
    expect(await talk.client.post(resume, outputs(['w0', 'Rain in Paris']))).toMatchObject({ status: 'running' })
    const joined = await talk.join(run.runId, run.events.at(-1)?.id)
    expect(joined.end).toBe('end')
    const next = (await answered.arrived).body
    expect(next.messages.slice(-2)).toEqual([
      { role: 'tool', tool_call_id: 'w0', content: 'Rain in Paris' },
      { role: 'tool', tool_call_id: 'w1', content: 'Sun in Rome' },
    ])
    // A model that had to call a function each time would never answer.
    expect(next).not.toHaveProperty('tool_choice')
    expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({
      status: 'success',
      finish_reason: 'stop',
      waiting_calls: [],
    })
    await talk.client.post(resume, outputs(['w0', 'late']), 409)
    const history = await historyOf(talk.threadId)
    expect(historyText(history)).not.toContain('Rome')
    await recordHistory('thread-client-results', history)
  })

  it('end a run with the error expired when their results do not come in time, and its thread goes on', async () => {
    const talk = await conversation(service)
    service.model.reply(calls('Paris'))
    const run = await talk.stream('Weather?', { tools: [weather], client_calls_expire_seconds: 1 })
    await historyOf(talk.threadId)
    expect((await talk.join(run.runId, run.events.at(-1)?.id)).error).toMatchObject({
      type: 'expired',
      status_code: 504,
    })
    await talk.client.post(`/runs/${run.runId}/resume`, outputs(['w0', 'Rain']), 409)
    const asked = service.model.reply({ text: 'Hello' })
    expect((await talk.stream('Hello?')).end).toBe('end')
    expect((await asked.arrived).body.messages.at(-2)).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('was not made'),
    })
  })

  it('end no run of which the client has answered, and a person has not', async () => {
    const talk = await conversation(service, { 'type==agent/tools': [{ type: 'http_request', ask: true }] })
    const request = { id: 'h0', name: 'http_request', arguments: { method: 'GET', url: 'http://127.0.0.1:9/' } }
    service.model.reply({ toolCalls: [...calls('Paris').toolCalls, request] })
    const run = await talk.stream('Weather?', { tools: [weather], client_calls_expire_seconds: 1 })
    const resume = `/runs/${run.runId}/resume`
    expect(await talk.client.post(resume, outputs(['w0', 'Rain']))).toMatchObject({
      status: 'interrupted',
      expires_at: null,
    })
    const thread = service.temporal.workflow.getHandle(`thread/${talk.threadId}`)
    await eventually('the deadline has passed', async () =>
      (await thread.fetchHistory()).events?.some((event) => event.timerFiredEventAttributes),
    )
    expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({ status: 'interrupted', error: null })
    service.model.reply({ text: 'It rains.' })
    await talk.client.post(resume, { action: 'approve' })
    expect((await talk.join(run.runId, run.events.at(-1)?.id)).end).toBe('end')
  })

  it('of the assistant are listed, shown and offered', async () => {
    const talk = await conversation(service, {
      'type==agent/tools': [
        { type: 'client', config: weather },
        { type: 'client', config: { name: 'no spaces' } },
      ],
    })
    expect(await talk.client.get('/tools/')).toContainEqual(
      expect.objectContaining({ type: 'client', available: true }),
    )
    const view = await talk.client.get(`/runs/debug/assistant/${talk.assistantId}`)
    expect(view.tools).toEqual([expect.objectContaining({ type: 'client', name: 'get_weather' })])
    expect(view.tool_problems).toEqual([expect.objectContaining({ type: 'client' })])
    const trial = await talk.client.post(`/assistants/${talk.assistantId}/tools/try`, {
      name: 'get_weather',
      args: { city: 'Paris' },
    })
    expect(trial).toMatchObject({ outcome: 'failed' })
    service.model.reply(calls('Paris'))
    const run = await talk.stream('Weather?')
    service.model.reply({ text: 'Rainy.' })
    await talk.client.post(`/runs/${run.runId}/resume`, outputs(['w0', 'Rain']))
    expect((await talk.join(run.runId, run.events.at(-1)?.id)).end).toBe('end')
  })

  it('keep their names when a tool of the assistant has the same', async () => {
    const talk = await conversation(service, withServerTool)
    const asked = service.model.reply({ text: 'Hello' })
    await talk.stream('Hi', { tools: [{ name: 'http_request' }] })
    const { body } = await asked.arrived
    expect(body.tools?.map((tool: any) => tool.function)).toEqual([
      { name: 'http_request', parameters: { type: 'object', properties: {} } },
      expect.objectContaining({ name: 'http_request_2', description: expect.any(String) }),
    ])
  })

  it('wait until the tools of the server in the same answer have their results', async () => {
    const talk = await conversation(service, withServerTool)
    service.model.reply({ toolCalls: [...calls('Paris').toolCalls, serverCall()] })
    const run = await talk.stream('Both', { tools: [weather] })
    expect(run.end).toBe('end')
    expect(run.messages.map((message: any) => message.data.content)).toContainEqual(
      expect.stringContaining('from the server'),
    )
    const shown = await talk.client.get(`/runs/${run.runId}`)
    expect(shown).toMatchObject({ status: 'interrupted', waiting_calls: [{ tool_call_id: 'w0' }] })
    // The stream expires while the run waits: a reader who has everything gets nothing twice.
    await service.redis.del(`run:{${run.runId}}:stream`)
    expect((await talk.join(run.runId, run.events.at(-1)?.id)).states).toEqual([])
    const answered = service.model.reply({ text: 'Done.' })
    await talk.client.post(`/runs/${run.runId}/resume`, outputs(['w0', 'from the client']))
    expect((await talk.join(run.runId, run.events.at(-1)?.id)).end).toBe('end')
    expect((await answered.arrived).body.messages.slice(-2)).toEqual([
      { role: 'tool', tool_call_id: 'w0', content: 'from the client' },
      { role: 'tool', tool_call_id: 's0', content: expect.stringContaining('from the server') },
    ])
    await recordHistory('thread-client-and-server', await historyOf(talk.threadId))
  })

  it('and decisions about tools of the server are waited for at once', async () => {
    const talk = await conversation(service, { ...withServerTool, 'type==agent/interrupt_before_action': true })
    service.model.reply({ toolCalls: [serverCall(), ...calls('Paris').toolCalls] })
    const run = await talk.stream('Both', { tools: [weather] })
    const resume = `/runs/${run.runId}/resume`
    expect((await talk.client.get(`/runs/${run.runId}`)).waiting_calls).toMatchObject([
      { tool_call_id: 's0', waits_for: 'decision' },
      { tool_call_id: 'w0', waits_for: 'output' },
    ])
    await talk.client.post(resume, { action: 'approve', tool_call_id: 'w0' }, 422)
    await talk.client.post(resume, outputs(['s0', 'forged']), 422)
    expect(await talk.client.post(resume, outputs(['w0', 'Rain']))).toMatchObject({ status: 'interrupted' })
    const answered = service.model.reply({ text: 'Done.' })
    expect(await talk.client.post(resume, { action: 'approve' })).toMatchObject({ status: 'running' })
    expect((await talk.join(run.runId, run.events.at(-1)?.id)).end).toBe('end')
    expect((await answered.arrived).body.messages.slice(-2)).toMatchObject([
      { tool_call_id: 's0', content: expect.stringContaining('from the server') },
      { tool_call_id: 'w0', content: 'Rain' },
    ])
  })

  it('end a run of the mode return, and the next run brings their results', async () => {
    const talk = await conversation(service)
    service.model.reply(calls('Paris', 'Rome'))
    const run = await talk.stream('Weather?', { tools: [weather], client_calls: 'return' })
    expect(run.end).toBe('end')
    expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({
      status: 'success',
      finish_reason: 'tool_calls',
      waiting_calls: [],
    })
    const result = (id: string, content: string) => ({ type: 'ToolMessage', data: { tool_call_id: id, content } })
    const go = (input: object[]) => ({
      thread_id: talk.threadId,
      assistant_id: talk.assistantId,
      input,
      tools: [weather],
      client_calls: 'return',
    })
    const refused = await talk.client.post('/runs/', go([result('w0', 'Rain'), result('w0', 'Snow')]), 422)
    expect(refused.detail[0].loc).toEqual(['body', 'input', 1, 'tool_call_id'])
    await talk.client.post('/runs/', go([result('w7', 'Rain')]), 422)
    const answered = service.model.reply({ text: 'Rain there, sun here.', finishReason: 'length' })
    const next = await talk.client.post('/runs/', go([result('w0', 'Rain'), result('w1', 'Sun')]))
    expect((await talk.join(next.run_id)).end).toBe('end')
    expect((await answered.arrived).body.messages.slice(-2)).toEqual([
      { role: 'tool', tool_call_id: 'w0', content: 'Rain' },
      { role: 'tool', tool_call_id: 'w1', content: 'Sun' },
    ])
    expect(await talk.client.get(`/runs/${next.run_id}`)).toMatchObject({ finish_reason: 'length' })
    // What was said before is taken as said, and there is nothing else to answer.
    const repeated = await talk.client.post('/runs/', go([result('w0', 'Rain')]), 422)
    expect(repeated.detail[0].loc).toEqual(['body', 'input', 0, 'tool_call_id'])
  })

  it('end a run of the mode return after the tools of the server in the same answer', async () => {
    const talk = await conversation(service, withServerTool)
    service.model.reply({ toolCalls: [...calls('Paris').toolCalls, serverCall()] })
    const run = await talk.stream('Both', { tools: [weather], client_calls: 'return' })
    expect(run.end).toBe('end')
    const messages = await talk.messages()
    expect(messages.map(({ type }: any) => type)).toEqual(['HumanMessage', 'AIMessage', 'ToolMessage'])
    expect(messages.at(-1).data).toMatchObject({
      tool_call_id: 's0',
      content: expect.stringContaining('from the server'),
    })
    expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({
      status: 'success',
      finish_reason: 'tool_calls',
    })
    await recordHistory('thread-client-returned', await historyOf(talk.threadId))
  })

  it('are refused if there are too many, if they repeat a name, or are too large', async () => {
    const talk = await conversation(service)
    const start = (more: object) => talk.client.post('/runs/', talk.payload('x', more), 422)
    const tools = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `f${index}` }))
    await start({ tools: tools(129) })
    await start({ tools: [{ name: 'not a name' }] })
    expect((await start({ tools: [weather, weather] })).detail[0].loc).toEqual(['body', 'tools', 1])
    const large = { ...weather, parameters: { description: 'x'.repeat(70_000) } }
    expect((await start({ tools: [large] })).detail[0].loc).toEqual(['body', 'tools', 0, 'parameters'])
    const long = tools(8).map((tool) => ({ ...tool, description: 'x'.repeat(90_000) }))
    expect((await start({ tools: long })).detail[0].loc).toEqual(['body', 'tools'])
  })
})
