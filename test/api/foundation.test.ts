import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startScriptedModel } from '../support/scripted-model.ts'
import { type TestService, startService } from '../support/service.ts'

describe('the HTTP foundation', () => {
  let service: TestService
  const lines: { msg: string; level: number; route?: string; status?: number }[] = []
  beforeAll(async () => {
    const onLog = (line: string) => void lines.push(JSON.parse(line))
    service = await startService({ onLog, env: { CORS_ORIGINS: 'https://app.example.com', LOG_LEVEL: 'debug' } })
  })
  afterAll(() => service.close())

  it('reports each dependency', async () => {
    const up = { status: 'ok' }
    await eventually('the workers to be seen', async () => {
      const response = await fetch(`${service.url}/ok`)
      expect(response.status).toBe(200)
      const dependencies = { mongodb: up, redis: up, temporal: up, workers: up }
      expect(await response.json()).toMatchObject({ status: 'ok', dependencies })
      return true
    })
  })

  it('distinguishes not configured from down, and asks the model server itself', async () => {
    const model = await startScriptedModel()
    const withModel = await startService({ worker: false, env: model.env })
    const health = async (): Promise<any> => (await fetch(`${withModel.url}/ok`)).json()
    expect((await health()).dependencies.model).toEqual({ status: 'ok', detail: 'scripted' })
    await withModel.close()
    await model.close()
    const gone = await startService({ worker: false, env: model.env })
    const report: any = await (await fetch(`${gone.url}/ok`)).json()
    expect(report).toMatchObject({ status: 'degraded', dependencies: { model: { status: 'down' } } })
    await gone.close()
    const without: any = await (await fetch(`${service.url}/ok`)).json()
    expect(without.dependencies.model).toEqual({ status: 'not_configured' })
  })

  it("gives every response a request id, and accepts a caller's harmless one", async () => {
    expect((await fetch(`${service.url}/nowhere`)).headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
    const given = await fetch(`${service.url}/ok`, { headers: { 'x-request-id': 'trace-1' } })
    expect(given.headers.get('x-request-id')).toBe('trace-1')
  })

  it('logs a line for each request, for those of load balancers at the level debug', async () => {
    await fetch(`${service.url}/ready`)
    await fetch(`${service.url}/threads/`)
    const lineOf = (name: string) =>
      eventually('the line', () => lines.find(({ msg, route }) => msg === 'request' && route === name))
    expect(await lineOf('/ready')).toMatchObject({ level: 20, status: 200 })
    expect(await lineOf('/threads/')).toMatchObject({ level: 30, status: 401 })
  })

  it('allows calls with credentials only from configured origins', async () => {
    const allowed = await fetch(`${service.url}/ok`, { headers: { origin: 'https://app.example.com' } })
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example.com')
    expect(allowed.headers.get('access-control-allow-credentials')).toBe('true')
    const other = await fetch(`${service.url}/ok`, { headers: { origin: 'https://elsewhere.example.com' } })
    expect(other.headers.get('access-control-allow-origin')).toBeNull()
  })
})
