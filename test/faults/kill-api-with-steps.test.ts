import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { startApiProcess, startWorkerProcess } from '../support/processes.ts'
import { type ServerEvent, allEvents, readEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

describe('kill -9 of an API process that executes the step itself', { timeout: 180_000 }, () => {
  const service = useModelService({ worker: false, env: { RUNS_IN_API: 'false' } })

  it('a worker takes over the run, and the client resumes on another process and gets the answer once', async () => {
    const first = await startApiProcess({ ...service.env, RUNS_IN_API: 'true' })
    const owner = await insertUser(service)
    const client = apiClient(first.url, owner.token)
    const { assistant_id } = await client.post('/assistants/', { name: 'Helper' })
    const { thread_id } = await client.post('/threads/', {})
    const never = new Promise<never>(() => {})
    const cut = service.model.reply({ text: ['One ', 'two ', never] })
    service.model.reply({ text: ['One ', 'two ', 'three.'] })

    const input = [{ type: 'human', content: 'Count' }]
    const response = await client.fetch('POST', '/runs/stream', { thread_id, assistant_id, input })
    const seen: ServerEvent[] = []
    try {
      for await (const event of readEvents(response)) {
        seen.push(event)
        if (event.event === 'data' && JSON.parse(event.data)[0].data.content === 'One two ') await first.kill()
      }
    } catch {
      // The connection broke.
    }
    expect(await cut.ended).toBe('dropped')
    // Only now, so that the killed process had to execute the step.
    const worker = await startWorkerProcess(service.env)
    const { run_id } = JSON.parse(seen[1]?.data ?? '')
    // The process that stored the run did not have to claim it. The worker does.
    await eventually('the claim of the worker', async () => {
      const run = await service.collections.runs.findById(run_id).lean()
      return (run?.fence ?? 0) > 1
    })

    const back = apiClient(service.url, owner.token)
    const rest = await allEvents(
      await back.fetch('GET', `/runs/${run_id}/stream`, undefined, { 'last-event-id': seen.at(-1)?.id ?? '' }),
    )
    expect(rest.at(-1)?.event).toBe('end')
    const messages = rest.filter(({ event }) => event === 'data').flatMap(({ data }) => JSON.parse(data))
    expect(messages.at(-1).data.content).toBe('One two three.')
    const { values } = await back.get(`/threads/${thread_id}/state`)
    expect(values.messages.map((message: any) => message.data.content)).toEqual(['Count', 'One two three.'])
    expect(service.model.unused).toBe(0)
    await worker.stop()
  })

  it('a run whose model is silent is cancelled before its workflow task ends', async () => {
    const api = await startApiProcess({ ...service.env, NODE_ENV: 'production', RUNS_IN_API: 'true' })
    const owner = await insertUser(service)
    const client = apiClient(api.url, owner.token)
    const { assistant_id } = await client.post('/assistants/', { name: 'Helper' })
    const { thread_id } = await client.post('/threads/', {})
    const silent = service.model.reply({ text: [new Promise<never>(() => {})] })
    const input = [{ type: 'human', content: 'Count' }]
    const { run_id } = await client.post('/runs/', { thread_id, assistant_id, input })
    await silent.arrived
    // By another process: the message goes through Redis.
    const startedAt = Date.now()
    await apiClient(service.url, owner.token).post(`/runs/${run_id}/cancel`)
    expect(await silent.ended).toBe('dropped')
    // The task itself would hear of it with its next heartbeat, after four seconds.
    expect(Date.now() - startedAt).toBeLessThan(3500)
    await api.stop()
  })
})
