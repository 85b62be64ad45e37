import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { threadContract } from '../../domain/contracts/thread.ts'
import { newId } from '../../domain/ids.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { cancelledError, endRun } from '../../services/runs/end-run.ts'
import { createRunSweep } from '../../services/runs/upkeep.ts'
import { commandsDuring } from '../support/commands.ts'
import { startHttpServer } from '../support/http-server.ts'
import { useModelService } from '../support/model-service.ts'
import { conversation } from './support.ts'

describe('the sweep of open runs', () => {
  const service = useModelService()
  const hourMs = 3600_000
  const sweep = (afterMs = 120_000) => service.api.platform.runs.runUpkeep.sweep(() => Date.now() + afterMs)
  const never = new Promise<never>(() => {})

  type Talk = Awaited<ReturnType<typeof conversation>>

  async function untilIdle({ threadId }: Talk): Promise<void> {
    await service.temporal.workflow.getHandle(threadContract.id({ threadId })).result()
  }

  /** A run that was stored by a process which died before it told the thread. */
  async function lostRun(talk: Talk, content: string) {
    service.model.reply({ text: 'First' })
    const first = await talk.stream('one')
    await untilIdle(talk)
    const stored = await service.collections.runs.findById(first.runId).lean<RunRecord>()
    const lost = {
      ...stored,
      _id: newId(),
      status: 'running' as const,
      fence: 1,
      created_at: new Date(Date.now() - 60_000),
      // Out of reach of the worker's own sweep.
      check_at: new Date(Date.now() + hourMs),
      input_json: JSON.stringify([{ type: 'HumanMessage', data: { id: 'm2', content } }]),
    }
    delete lost.finished_at
    await service.collections.runs.create(lost)
    return lost
  }

  /** A run that waits for a person's decision about a call. */
  async function waitingRun() {
    const talk = await conversation(service, {
      'type==agent/tools': [{ type: 'http_request' }],
      'type==agent/interrupt_before_action': true,
    })
    service.model.reply({ toolCalls: [{ id: 'c1', name: 'http_request', arguments: {} }] })
    return { talk, runId: (await talk.stream('Ask first')).runId }
  }

  const threadState = async (talk: Talk) => (await talk.client.get(`/threads/${talk.threadId}`)).status

  it('hands over a run whose process died before the hand-over', async () => {
    const talk = await conversation(service)
    const lost = await lostRun(talk, 'two')
    service.model.reply({ text: 'Second' })
    await sweep(2 * hourMs)
    expect((await talk.join(lost._id)).end).toBe('end')
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['one', 'First', 'two', 'Second'])
    expect((await service.collections.runs.findById(lost._id).lean())?.check_at).toBeUndefined()
  })

  it('ends it, as its caller was not told that it was accepted, if a newer run of the thread has begun', async () => {
    const talk = await conversation(service)
    const lost = await lostRun(talk, 'two')
    service.model.reply({ text: 'Third' })
    const newer = await talk.stream('three')
    expect(newer.runId > lost._id).toBe(true)
    await untilIdle(talk)
    await sweep(2 * hourMs)
    expect(await talk.client.get(`/runs/${lost._id}`)).toMatchObject({
      status: 'error',
      error: { type: 'unavailable', status_code: 503 },
    })
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['one', 'First', 'three', 'Third'])
  })

  it('hands it over again when the sweeping worker died before the hand-over', async () => {
    const talk = await conversation(service)
    const lost = await lostRun(talk, 'two')
    service.model.reply({ text: 'Second' })
    const { core } = service.api.platform
    const told: string[] = []
    const failing = createRunSweep({
      ...core,
      decisions: { finishAbandoned: async () => {} },
      handOver: {
        async enqueue({ _id }) {
          told.push(_id)
          throw new Error('the worker dies here')
        },
      },
      finalize: async () => {},
      onError: () => {},
    })
    await failing(() => Date.now() + 2 * hourMs)
    expect(told).toContain(lost._id)
    // No other worker takes it while the lease holds.
    expect(await sweep(2 * hourMs)).toBe(0)
    expect(await service.collections.runs.findById(lost._id).lean()).toMatchObject({ status: 'running', fence: 1 })
    await sweep(3 * hourMs)
    expect((await talk.join(lost._id)).end).toBe('end')
  })

  it('ends all runs of a thread whose workflow was terminated, and frees the thread', async () => {
    const talk = await conversation(service)
    const reply = service.model.reply({ text: ['Some ', never] })
    const current = await talk.start('one')
    await reply.arrived
    const waiting = await talk.start('two')
    const reader = talk.join(current.run_id)
    await service.temporal.workflow
      .getHandle(threadContract.id({ threadId: talk.threadId }))
      .terminate('by an operator')
    expect(await threadState(talk)).toBe('busy')
    await sweep()
    expect(await reader).toMatchObject({ end: 'error', error: { type: 'aborted', status_code: 500 } })
    for (const { run_id } of [current, waiting]) {
      expect(await talk.client.get(`/runs/${run_id}`)).toMatchObject({ status: 'error', error: { type: 'aborted' } })
    }
    expect(await threadState(talk)).toBe('error')
    service.model.reply({ text: 'Again' })
    expect((await talk.stream('three', { multitask_strategy: 'reject' })).end).toBe('end')
    const said = (await talk.messages()).map(({ data }) => [data.content, data.incomplete ?? false])
    expect(said).toEqual([
      ['one', false],
      ['Some ', true],
      ['three', false],
      ['Again', false],
    ])
  })

  it('ends a run that waits for a person when its workflow was terminated, and answers its calls', async () => {
    const { talk, runId } = await waitingRun()
    await service.temporal.workflow
      .getHandle(threadContract.id({ threadId: talk.threadId }))
      .terminate('by an operator')
    await sweep()
    expect(await talk.client.get(`/runs/${runId}`)).toMatchObject({ status: 'error', error: { type: 'aborted' } })
    expect((await talk.messages()).at(-1)).toMatchObject({ type: 'ToolMessage', data: { tool_call_id: 'c1' } })
    expect((await talk.client.call('POST', `/runs/${runId}/resume`, { action: 'approve' })).status).toBe(409)
  })

  it('does nothing when the workflow was cancelled, because it settles its runs itself', async () => {
    const talk = await conversation(service)
    const reply = service.model.reply({ text: ['Some ', never] })
    const current = await talk.start('one')
    await reply.arrived
    const waiting = await talk.start('two')
    const handle = service.temporal.workflow.getHandle(threadContract.id({ threadId: talk.threadId }))
    await handle.cancel()
    await expect(handle.result()).rejects.toThrow('cancelled')
    for (const { run_id } of [current, waiting]) {
      expect(await talk.client.get(`/runs/${run_id}`)).toMatchObject({ status: 'cancelled' })
    }
    expect(await threadState(talk)).toBe('idle')
  })

  /** As a process that is killed when it has stored that a run is cancelled. */
  async function endUnnotified(talk: Talk, runId: string) {
    const key = { _id: runId, thread_id: talk.threadId }
    await endRun(service.api.platform.core, key, cancelledError)
    expect((await service.collections.runs.findById(runId).lean())?.check_at).toBeInstanceOf(Date)
  }

  it('tells the thread of a cancelled run that waits, if the process that ended it died before', async () => {
    const { talk, runId } = await waitingRun()
    await endUnnotified(talk, runId)
    await sweep()
    await untilIdle(talk)
    const { check_at: checkAt } = (await service.collections.runs.findById(runId).lean<RunRecord>()) ?? {}
    expect(checkAt).toBeUndefined()
    expect((await talk.messages()).at(-1)).toMatchObject({ type: 'ToolMessage', data: { tool_call_id: 'c1' } })
    service.model.reply({ text: 'Here.' })
    expect((await talk.stream('Are you there?', { multitask_strategy: 'reject' })).end).toBe('end')
  })

  it('settles a cancelled run whose workflow has ended without it', async () => {
    const { talk, runId } = await waitingRun()
    await endUnnotified(talk, runId)
    await service.temporal.workflow
      .getHandle(threadContract.id({ threadId: talk.threadId }))
      .terminate('by an operator')
    await sweep()
    expect((await talk.messages()).at(-1)).toMatchObject({ type: 'ToolMessage', data: { tool_call_id: 'c1' } })
    expect(await service.collections.runs.findById(runId).lean()).toMatchObject({ status: 'cancelled' })
    expect(await sweep()).toBe(0)
  })

  it('is not needed by a cancelled run whose model answers: its step keeps what readers have seen', async () => {
    const talk = await conversation(service)
    const reply = service.model.reply({ text: ['Half an ', never] })
    const { run_id: runId } = await talk.start('one')
    await reply.arrived
    await expect.poll(() => service.redis.xLen(`run:{${runId}}:stream`)).toBeGreaterThan(0)
    await endUnnotified(talk, runId)
    await untilIdle(talk)
    const said = (await talk.messages()).map(({ data }) => [data.content, data.incomplete ?? false])
    expect(said).toEqual([
      ['one', false],
      ['Half an ', true],
    ])
    expect(await sweep()).toBe(0)
  })

  it('does not change runs whose workflow runs, and checks each once with several workers', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<string>()
    const reply = service.model.reply({ text: ['Some ', gate.promise] })
    const current = await talk.start('one')
    await reply.arrived
    const waiting = await talk.start('two')
    const sweeps = await Promise.all(Array.from({ length: 5 }, () => sweep()))
    expect(sweeps.reduce((sum, count) => sum + count)).toBe(2)
    const statuses = async () =>
      Promise.all([current, waiting].map(async ({ run_id }) => (await talk.client.get(`/runs/${run_id}`)).status))
    expect(await statuses()).toEqual(['running', 'pending'])
    service.model.reply({ text: 'Second' })
    gate.resolve('more')
    await talk.join(waiting.run_id)
    expect(await statuses()).toEqual(['success', 'success'])
  })

  it('is shared by several workers: few try a run that another one has taken', async () => {
    const talk = await conversation(service)
    const lost = await lostRun(talk, 'two')
    const many = Array.from({ length: 400 }, (_, index) => ({
      ...lost,
      _id: newId(),
      thread_id: newId(),
      check_at: new Date(Date.now() + hourMs + index * 1000),
    }))
    await service.collections.runs.insertMany(many)
    const { core } = service.api.platform
    const looked: string[] = []
    const one = () =>
      createRunSweep({
        ...core,
        decisions: { finishAbandoned: async ({ _id }) => void looked.push(_id) },
        handOver: { enqueue: async () => 'enqueued' },
        workflows: { state: async () => ({ status: 'running' }), signal: async () => true },
        finalize: async () => {},
        onError: () => {},
      })(() => Date.now() + 2 * hourMs)
    const commands = await commandsDuring(service.databases, () => Promise.all(Array.from({ length: 8 }, one)))
    const claims = commands.filter(({ name, command }) => name === 'findAndModify' && command[name] === 'runs')
    // Each by each of the eight would be 3,208.
    expect(claims.length).toBeLessThan(802)
    expect(looked).toHaveLength(401)
    expect(new Set(looked)).toEqual(new Set([lost._id, ...many.map(({ _id }) => _id)]))
    await service.collections.runs.deleteMany({ _id: { $in: [lost._id, ...many.map(({ _id }) => _id)] } })
  })
})

describe('a decision whose process died meanwhile', () => {
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
    await runs.updateOne({ _id: run.runId }, { $set: { deciding_since: since, check_at: since } })
    return { talk, run, mark: async () => (await runs.findById(run.runId).lean())?.deciding_since }
  }

  const sweep = () => service.api.platform.runs.runUpkeep.sweep()

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
    await Promise.all([sweep(), sweep()])
    const whole = await talk.join(run.runId)
    expect(whole.messages.at(-1).data.content).toBe('Thanks.')
    await sweep()
    expect(await mark()).toBeUndefined()
    expect(asked.filter((url) => url === `/${path}`)).toHaveLength(1)
    expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({ status: 'success' })
  })

  it('results of the client whose process died meanwhile are passed on', async () => {
    const talk = await conversation(service)
    service.model.reply({ toolCalls: [{ id: 'mine', name: 'mine', arguments: {} }] })
    const run = await talk.stream('Ask me', { tools: [{ name: 'mine' }] })
    const { toolCalls: ledger, runs } = service.collections
    await ledger.updateOne({ run_id: run.runId }, { $set: { status: 'done', result: 'here' } })
    const since = new Date(Date.now() - 60_000)
    await runs.updateOne({ _id: run.runId }, { $set: { deciding_since: since, check_at: since } })
    const asked = service.model.reply({ text: 'Thanks.' })
    await sweep()
    expect((await talk.join(run.runId)).messages.at(-1).data.content).toBe('Thanks.')
    expect((await asked.arrived).body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'here' })
  })

  it('keeps waiting while another call is undecided', async () => {
    const { talk, run, mark } = await decided('half', 2)
    await sweep()
    expect(await mark()).toBeUndefined()
    expect(await talk.client.get(`/runs/${run.runId}`)).toMatchObject({ status: 'interrupted' })
    service.model.reply({ text: 'Both.' })
    await talk.client.post(`/runs/${run.runId}/resume`, { action: 'approve' })
    expect((await talk.join(run.runId)).messages.at(-1).data.content).toBe('Both.')
    expect(asked.filter((url) => url === '/half')).toHaveLength(2)
  })
})
