import { describe, expect, it } from 'vitest'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { apiClient } from '../support/api-client.ts'
import { useModelService } from '../support/model-service.ts'
import { readEvents } from '../support/sse.ts'
import { conversation } from './support.ts'

/** From its `start` event on, a run is shown as running, whoever executes its steps. */
describe.each([
  { where: 'in the API', env: { RUNS_IN_API: 'true' }, worker: false },
  { where: 'in a worker', env: { RUNS_IN_API: 'false' }, worker: true },
])('a run whose steps are executed $where', ({ env, worker }) => {
  const service = useModelService({ env, worker })
  const never = new Promise<never>(() => {})

  /** Reads the stream up to its event `start`, and leaves it. */
  async function untilStart(response: Response): Promise<string> {
    for await (const { event } of readEvents(response)) if (event === 'start') break
    return response.headers.get('content-location')?.split('/').at(-1) ?? ''
  }

  it('is running, and its thread busy, from start on; one behind it is pending until its turn', async () => {
    const talk = await conversation(service)
    const { arrived, ended } = service.model.reply({ after: never })
    const runId = await untilStart(await talk.client.fetch('POST', '/runs/stream', talk.payload('First')))
    expect(await talk.client.get(`/runs/${runId}`)).toMatchObject({ status: 'running' })
    expect(await talk.client.get(`/threads/${talk.threadId}`)).toMatchObject({ status: 'busy' })
    expect(await talk.client.get(`/threads/${talk.threadId}/state`)).toMatchObject({ next: ['model'] })
    const { threads } = await talk.client.get('/threads/')
    expect(threads.find((thread: any) => thread.thread_id === talk.threadId)).toMatchObject({ status: 'busy' })
    const [listed] = (await talk.client.get(`/threads/${talk.threadId}/runs`)).runs
    expect(listed).toMatchObject({ run_id: runId, status: 'running' })

    const behind = await talk.start('Second')
    expect(behind).toMatchObject({ status: 'pending' })
    // Nobody takes the first one for a run that its process has lost.
    await service.api.platform.runs.runUpkeep.sweep(() => Date.now() + 120_000)
    expect(await talk.client.get(`/runs/${runId}`)).toMatchObject({ status: 'running' })
    expect(await talk.client.get(`/runs/${behind.run_id}`)).toMatchObject({ status: 'pending' })
    await talk.client.post(`/runs/${behind.run_id}/cancel`)
    await arrived
    await talk.client.post(`/runs/${runId}/cancel`)
    expect(await ended).toBe('dropped')
  })

  it('is answered as running when it is started in the background', async () => {
    const talk = await conversation(service)
    const { arrived, ended } = service.model.reply({ after: never })
    const run = await talk.start('First')
    expect(run).toMatchObject({ status: 'running' })
    await arrived
    await talk.client.post(`/runs/${run.run_id}/cancel`)
    expect(await ended).toBe('dropped')
  })

  it('is in progress in the compatible family', async () => {
    const { arrived, ended } = service.model.reply({ after: never })
    const { id, token } = await newPublicAssistant(service)
    const compat = apiClient(`${service.url}/public/compat/v1`, token)
    const thread = await compat.post('/threads', { messages: [{ role: 'user', content: 'Hello' }] })
    const run = await compat.post(`/threads/${thread.id}/runs`, { assistant_id: id })
    expect(run).toMatchObject({ status: 'in_progress' })
    expect(await compat.get(`/threads/${thread.id}/runs/${run.id}`)).toMatchObject({ status: 'in_progress' })
    await arrived
    await compat.post(`/threads/${thread.id}/runs/${run.id}/cancel`)
    expect(await ended).toBe('dropped')
  })
})
