import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { conversation } from '../runs/support.ts'
import { startHttpServer } from '../support/http-server.ts'
import { useModelService } from '../support/model-service.ts'
import { type ServiceProcess, startWorkerProcess } from '../support/processes.ts'

describe('kill -9 of the worker during a tool call', () => {
  let worker: ServiceProcess
  let target: Awaited<ReturnType<typeof startHttpServer>>
  const asked: string[] = []
  let arrived = Promise.withResolvers<void>()
  let answerNow = false

  beforeAll(async () => {
    target = await startHttpServer(async (request, response) => {
      asked.push(`${request.method} ${request.url}`)
      arrived.resolve()
      // Without an answer the caller waits until it is killed.
      if (answerNow) response.end('paid')
    })
  })
  afterAll(() => target.close())
  const service = useModelService({ worker: false, env: { OUTBOUND_ALLOW: '127.0.0.1/32' } })
  beforeAll(async () => {
    worker = await startWorkerProcess(service.env)
  })
  afterAll(async () => {
    await worker.stop()
  })

  async function runAndKill(method: string, path: string) {
    arrived = Promise.withResolvers<void>()
    answerNow = false
    const talk = await conversation(service, { 'type==agent/tools': [{ type: 'http_request' }] })
    service.model.reply({
      toolCalls: [{ id: 'call_pay', name: 'http_request', arguments: { method, url: `${target.url}${path}` } }],
    })
    service.model.reply({ text: 'I see.' })
    const run = talk.stream('Pay')
    await arrived.promise
    await worker.kill()
    answerNow = true
    worker = await startWorkerProcess(service.env)
    return run
  }

  it('does not repeat a call that is not safe to repeat, and tells the model that its outcome is unknown', async () => {
    const run = await runAndKill('POST', '/pay')
    expect(run.end).toBe('end')
    expect(asked.filter((line) => line === 'POST /pay')).toHaveLength(1)
    const result = run.messages.find(({ type }) => type === 'ToolMessage')
    expect(result?.data.content).toContain('not known')
    expect(run.messages.at(-1)?.data.content).toBe('I see.')
  })
})
