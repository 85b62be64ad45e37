import { afterAll, describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { useModelService } from '../support/model-service.ts'
import { startApiProcess, startWorkerProcess } from '../support/processes.ts'
import { allEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

describe('kill -9 of API and worker while the client executes a function', { timeout: 180_000 }, () => {
  const service = useModelService({ worker: false })
  const stops: (() => Promise<unknown>)[] = []
  afterAll(async () => {
    for (const stop of stops) await stop()
  })

  it('the run goes on in other processes when the results come', async () => {
    const env = { ...service.env, RUNS_IN_API: 'true' }
    const [api, worker] = [await startApiProcess(env), await startWorkerProcess(service.env)]
    const owner = await insertUser(service)
    const client = apiClient(api.url, owner.token)
    const { assistant_id } = await client.post('/assistants/', { name: 'Helper' })
    const { thread_id } = await client.post('/threads/', {})
    service.model.reply({ toolCalls: [{ id: 'w0', name: 'get_weather', arguments: { city: 'Paris' } }] })
    const payload = {
      thread_id,
      assistant_id,
      input: [{ type: 'human', content: 'Weather?' }],
      tools: [{ name: 'get_weather' }],
    }
    const events = await allEvents(await client.fetch('POST', '/runs/stream', payload))
    const { run_id } = JSON.parse(events[1]?.data ?? '')
    await api.kill()
    await worker.kill()

    const [otherApi, otherWorker] = [await startApiProcess(env), await startWorkerProcess(service.env)]
    stops.push(otherApi.stop, otherWorker.stop)
    const back = apiClient(otherApi.url, owner.token)
    const answered = service.model.reply({ text: 'It rains.' })
    const tool_outputs = [{ tool_call_id: 'w0', output: 'Rain' }]
    expect(await back.post(`/runs/${run_id}/resume`, { tool_outputs })).toMatchObject({ status: 'running' })
    const rest = await allEvents(
      await back.fetch('GET', `/runs/${run_id}/stream`, undefined, { 'last-event-id': events.at(-1)?.id ?? '' }),
    )
    expect(rest.at(-1)?.event).toBe('end')
    expect((await answered.arrived).body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Rain' })
    expect(service.model.unused).toBe(0)
  })
})
