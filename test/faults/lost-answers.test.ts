import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { conversation } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { startHttpServer } from '../support/http-server.ts'
import { useModelService } from '../support/model-service.ts'
import { type ServiceProcess, startApiProcess } from '../support/processes.ts'
import { startProxyOf } from '../support/tcp-proxy.ts'

describe('an API process that Temporal hears, and whose answers are lost', () => {
  const asked: string[] = []
  let target: Awaited<ReturnType<typeof startHttpServer>>
  let proxy: Awaited<ReturnType<typeof startProxyOf>>
  let api: ServiceProcess & { url: string }

  beforeAll(async () => {
    target = await startHttpServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.end('paid')
    })
  })
  const service = useModelService({ env: { OUTBOUND_ALLOW: '127.0.0.1/32' } })
  beforeAll(async () => {
    proxy = await startProxyOf(service.env['TEMPORAL_ADDRESS'] ?? '')
    api = await startApiProcess({
      ...service.env,
      TEMPORAL_ADDRESS: proxy.throughProxy,
      DEPENDENCY_TIMEOUT_SECONDS: '4',
    })
  })
  afterAll(async () => {
    await api.stop()
    await proxy.close()
    await target.close()
  })

  it('does not refuse a run that a worker has begun, so that nobody repeats what its tools did', async () => {
    const talk = await conversation(service, { 'type==agent/tools': [{ type: 'http_request' }] })
    service.model.reply({
      toolCalls: [{ id: 'call_pay', name: 'http_request', arguments: { method: 'POST', url: `${target.url}/pay` } }],
    })
    const answered = Promise.withResolvers<void>()
    service.model.reply({ text: ['Pa', answered.promise, 'id.'] })
    const client = apiClient(api.url, talk.client.token)
    // The connection to Temporal is open from here on.
    expect((await client.call('GET', '/ok')).status).toBe(200)

    proxy.loseAnswers()
    const send = () => client.call('POST', '/runs/', talk.payload('Pay'), { 'idempotency-key': 'pay-once' })
    const started = await send()
    proxy.restore()
    answered.resolve()
    expect([started.status, started.body.detail]).toEqual([200, undefined])

    const again = await send()
    expect(again.body.run_id).toBe(started.body.run_id)
    const { messages } = await talk.join(started.body.run_id)
    expect(messages.at(-1)?.data.content).toBe('Paid.')
    expect(asked).toEqual(['POST /pay'])
    const { values } = await talk.client.get(`/threads/${talk.threadId}/state`)
    expect(values.messages.filter(({ type }: { type: string }) => type === 'HumanMessage')).toHaveLength(1)
  })
})
