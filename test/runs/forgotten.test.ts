import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHttpServer } from '../support/http-server.ts'
import { useModelService } from '../support/model-service.ts'
import { conversation } from './support.ts'

describe('a run that was stored by a process which died before it told the thread', () => {
  const service = useModelService()

  it('is handed over later, once', async () => {
    const talk = await conversation(service)
    service.model.reply({ text: 'First' })
    const first = await talk.stream('one')
    const stored = await service.collections.runs.findById(first.runId).lean()
    const lost = {
      ...stored,
      _id: crypto.randomUUID(),
      status: 'pending' as const,
      fence: 0,
      created_at: new Date(Date.now() - 60_000),
      input_json: JSON.stringify([{ type: 'HumanMessage', data: { id: 'm2', content: 'two' } }]),
    }
    await service.collections.runs.create(lost)
    const requeue = service.api.platform.runs.requeueForgotten
    service.model.reply({ text: 'Second' })
    expect(await requeue()).toBe(1)
    expect((await talk.join(lost._id)).end).toBe('end')
    expect(await requeue()).toBe(0)
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['one', 'First', 'two', 'Second'])
  })
})

describe('a decision of a process which died while it was taking it', () => {
  let target: Awaited<ReturnType<typeof startHttpServer>>
  const asked: string[] = []
  beforeAll(async () => {
    target = await startHttpServer(async (request, response) => {
      asked.push(`${request.url}`)
      response.writeHead(200, { 'content-type': 'text/plain' }).end('done')
    })
  })
  afterAll(() => target.close())
  const service = useModelService({ env: { OUTBOUND_ALLOW: '127.0.0.1/32' } })

  /** A run that waits, whose calls somebody decided about without telling anybody. */
  async function decided(path: string, calls = 1) {
    const talk = await conversation(service, {
      'type==agent/tools': [{ type: 'http_request' }],
      'type==agent/interrupt_before_action': true,
    })
    const get = { method: 'GET', url: `${target.url}/${path}` }
    const toolCalls = Array.from({ length: calls }, (_, index) => ({
      id: `${path}-${index}`,
      name: 'http_request',
      arguments: get,
    }))
    service.model.reply({ toolCalls })
    const run = await talk.stream('Ask first')
    const { toolCalls: ledger, runs } = service.collections
    await ledger.updateOne({ run_id: run.runId, index: 0 }, { $set: { decision: { action: 'approve' } } })
    const since = new Date(Date.now() - 60_000)
    await runs.updateOne({ _id: run.runId }, { $set: { deciding_since: since } })
    return { talk, run, mark: async () => (await runs.findById(run.runId).lean())?.deciding_since }
  }

  const finishAbandoned = () => service.api.platform.runs.finishAbandoned()

  it.each([
    ['before the run was let go on', 'interrupted'],
    ['before the thread was told', 'running'],
  ])('%s is finished, and the tool is executed once', async (_when, status) => {
    const path = `left-${status}`
    const { talk, run, mark } = await decided(path)
    if (status === 'running') {
      await service.collections.runs.updateOne({ _id: run.runId }, { $set: { status }, $inc: { fence: 1 } })
    }
    service.model.reply({ text: 'Thanks.' })
    await Promise.all([finishAbandoned(), finishAbandoned()])
    const whole = await talk.join(run.runId)
    expect(whole.messages.at(-1).data.content).toBe('Thanks.')
    await finishAbandoned()
    expect(await mark()).toBeUndefined()
    expect(asked.filter((url) => url === `/${path}`)).toHaveLength(1)
    expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({ status: 'success' })
  })

  it('waits on when another call is still undecided', async () => {
    const { talk, run, mark } = await decided('half', 2)
    await finishAbandoned()
    expect(await mark()).toBeUndefined()
    expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({ status: 'interrupted' })
    service.model.reply({ text: 'Both.' })
    await talk.client.post(`/runs/${run.runId}/resume`, { action: 'approve' })
    expect((await talk.join(run.runId)).messages.at(-1).data.content).toBe('Both.')
    expect(asked.filter((url) => url === '/half')).toHaveLength(2)
  })
})
