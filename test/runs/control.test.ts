import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startService } from '../support/service.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { conversation, readRun } from './support.ts'

describe('control of runs', () => {
  const service = useSharedService()

  it('a second run waits its turn', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    const first = service.model.reply({ text: ['First ', gate.promise, 'answer'] })
    const one = await talk.start('one')
    await first.arrived
    service.model.reply({ text: 'Second answer' })
    const two = await talk.start('two')
    expect(await talk.client.get(`/runs/${two.run_id}`)).toMatchObject({ status: 'pending' })
    expect((await talk.client.get(`/threads/${talk.threadId}`)).status).toBe('busy')
    gate.resolve()
    expect((await talk.join(two.run_id)).end).toBe('end')
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual([
      'one',
      'First answer',
      'two',
      'Second answer',
    ])
    const { runs } = await talk.client.get(`/threads/${talk.threadId}/runs`)
    expect(runs.map((run: any) => [run.run_id, run.status])).toEqual([
      [two.run_id, 'success'],
      [one.run_id, 'success'],
    ])
    expect((await talk.client.get(`/threads/${talk.threadId}`)).status).toBe('idle')
  })

  it('reject returns 409 while another run is open, and accepts one of many simultaneous runs', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    service.model.reply({ text: [gate.promise, 'Only one'] })
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        talk.client.fetch('POST', '/runs/', talk.payload('me', { multitask_strategy: 'reject' })),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(7).fill(409)])
    gate.resolve()
    const accepted: any = await answers.find(({ status }) => status === 200)?.json()
    expect((await talk.join(accepted.run_id)).end).toBe('end')
    expect((await talk.client.get(`/threads/${talk.threadId}/runs`)).runs).toHaveLength(1)
  })

  it('interrupt cancels the first run and keeps its partial answer', async () => {
    const talk = await conversation(service)
    const never = new Promise<never>(() => {})
    service.model.reply({ text: ['Half an ', never] })
    const response = await talk.client.fetch('POST', '/runs/stream', talk.payload('long story'))
    const first = readRun(response)
    const runs = await eventually('the run to speak', async () => {
      const [run] = (await talk.client.get(`/threads/${talk.threadId}/runs`)).runs
      return run?.status === 'running' && run
    })
    await eventually('text in the stream', async () => (await service.redis.xLen(`run:{${runs.run_id}}:stream`)) >= 1)
    service.model.reply({ text: 'Short.' })
    const second = await talk.stream('short please', { multitask_strategy: 'interrupt' })
    expect(second.end).toBe('end')
    expect((await first).error).toMatchObject({ status_code: 499, type: 'cancelled' })
    expect(await talk.client.get(`/runs/${runs.run_id}`)).toMatchObject({ status: 'cancelled' })
    const messages = await talk.messages()
    expect(messages.map(({ data }) => data.content)).toEqual(['long story', 'Half an ', 'short please', 'Short.'])
    expect(messages[1].data.incomplete).toBe(true)
  })

  it('cancel ends streams at once with 499, stops the model, and never overwrites a finished run', async () => {
    const talk = await conversation(service)
    const never = new Promise<never>(() => {})
    const reply = service.model.reply({ text: ['Some ', never] })
    const run = await talk.start('go')
    const joined = talk.join(run.run_id)
    await reply.arrived
    await talk.client.post(`/runs/${run.run_id}/cancel`)
    expect((await joined).error).toMatchObject({ status_code: 499, type: 'cancelled' })
    expect(await reply.ended).toBe('dropped')
    expect(await talk.client.post(`/runs/${run.run_id}/cancel`)).toMatchObject({ status: 'cancelled' })

    service.model.reply({ text: 'Fine' })
    const done = await talk.stream('again')
    expect(done.end).toBe('end')
    expect(await talk.client.post(`/runs/${done.runId}/cancel`)).toMatchObject({ status: 'success' })
  })

  it('a disconnected client does not stop its run', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    const reply = service.model.reply({ text: ['I go ', gate.promise, 'on.'] })
    const response = await talk.client.fetch('POST', '/runs/stream', talk.payload('go'))
    await reply.arrived
    await response.body?.cancel()
    gate.resolve()
    const messages = await eventually('the answer', async () => {
      const found = await talk.messages()
      return found.length === 2 && found
    })
    expect(messages[1].data.content).toBe('I go on.')
  })

  it('a run is not visible to others, and invalid requests are refused', async () => {
    const talk = await conversation(service)
    service.model.reply({ text: 'Mine' })
    const run = await talk.stream('secret')
    const other = await insertUser(service)
    for (const path of ['', '/stream']) await other.get(`/runs/${run.runId}${path}`, 404)
    for (const path of ['/cancel', '/resume']) await other.post(`/runs/${run.runId}${path}`, { action: 'approve' }, 404)
    await other.get(`/threads/${talk.threadId}/runs`, 404)
    await other.post('/runs/', talk.payload('x'), 404)
    await talk.client.post('/runs/', talk.payload('x', { assistant_id: 'missing' }), 404)
    await talk.client.post('/runs/', talk.payload('x', { config: { configurable: { thread_id: 'another' } } }), 422)
    await talk.client.post('/runs/', { ...talk.payload('x'), input: [] }, 422)
    await talk.client.post('/runs/', { ...talk.payload('x'), input: 'text' }, 422)
    expect(
      (await talk.client.fetch('GET', `/runs/${run.runId}/stream`, undefined, { 'last-event-id': 'abc' })).status,
    ).toBe(422)
  })
})

describe('a service without a model', () => {
  it('returns 503 before any stream', async () => {
    const service = await startService({ worker: false })
    try {
      const talk = await conversation(service)
      const response = await talk.client.fetch('POST', '/runs/stream', talk.payload('hi'))
      expect(response.status).toBe(503)
      const body: any = await response.json()
      expect(body.detail).toContain('no model is configured')
      expect((await talk.client.get(`/threads/${talk.threadId}/runs`)).runs).toEqual([])
    } finally {
      await service.close()
    }
  })
})
