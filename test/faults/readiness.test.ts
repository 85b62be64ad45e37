import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prepareMongo, startMongo } from '../../local/services/mongo/index.ts'
import { prepareRedis, startRedis } from '../../local/services/redis.ts'
import { prepareTemporal, startTemporal } from '../../local/services/temporal.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { type TestService, startService } from '../support/service.ts'

const log = () => undefined

describe('GET /ready', () => {
  let dataDir: string
  let service: TestService
  let servers: Record<'mongodb' | 'redis' | 'temporal', { pid: number; again: () => Promise<Server> }>
  type Server = { pid: number; stop: () => Promise<void> }
  const running = new Set<Server>()

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'assistant-ready-'))
    const [mongo, redis, temporal] = await Promise.all([prepareMongo(log), prepareRedis(log), prepareTemporal(log)])
    const startAll = {
      mongodb: (port?: number) => startMongo({ server: mongo.value, dataDir, port }),
      redis: (port?: number) => startRedis({ server: redis.value, dataDir, port }),
      temporal: (port?: number) => startTemporal({ executable: temporal.value, dataDir, port }),
    }
    const [first, second, third] = await Promise.all([startAll.mongodb(), startAll.redis(), startAll.temporal()])
    for (const server of [first, second, third]) running.add(server)
    const portOf = (url: string) => Number(new URL(url).port)
    servers = {
      mongodb: { pid: first.pid, again: () => startAll.mongodb(portOf(first.url)) },
      redis: { pid: second.pid, again: () => startAll.redis(portOf(second.url)) },
      temporal: { pid: third.pid, again: () => startAll.temporal(portOf(`http://${third.address}`)) },
    }
    service = await startService({
      worker: false,
      env: { MONGODB_URI: first.url, REDIS_URL: second.url, TEMPORAL_ADDRESS: third.address },
    })
  })
  afterAll(async () => {
    await service.close()
    await Promise.all([...running].map((server) => server.stop()))
    await rm(dataDir, { recursive: true, force: true })
  })

  const ready = async () => {
    const { status, body, headers } = await apiClient(service.url).call('GET', '/ready')
    return { status, body, retryAfter: headers.get('retry-after') }
  }

  it.each(['redis', 'mongodb', 'temporal'] as const)(
    'returns 503 and names %s while it is unreachable, and 200 when it is back',
    async (name) => {
      expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready' } })
      process.kill(servers[name].pid, 'SIGKILL')
      const refusal = { status: 503, body: { detail: `Away: ${name}.` }, retryAfter: '1' }
      // A busy machine may find another one away as well, for a moment.
      await expect.poll(ready).toEqual(refusal)
      // However many ask at once.
      const answers = await Promise.all(Array.from({ length: 50 }, ready))
      expect(answers.every(({ status }) => status === 503)).toBe(true)
      const report = await apiClient(service.url).call('GET', '/ok')
      expect(report).toMatchObject({ status: 200, body: { status: 'degraded' } })
      expect(report.body.dependencies[name]).toEqual({ status: 'down' })
      running.add(await servers[name].again())
      await eventually('readiness', async () => (await ready()).status === 200)
    },
    90_000,
  )
})

describe('GET /ok', () => {
  const workers = async (url: string) => {
    const { body } = await apiClient(url).call('GET', '/ok')
    return body.dependencies.workers
  }

  it('names the task queues without a worker', async () => {
    const idle = await startService({ worker: false })
    expect(await workers(idle.url)).toEqual({
      status: 'down',
      detail: 'no worker polls runs, documents, accounts, deletions, schedules, crawls',
    })
    // Of that, requests are not refused: what they begin is carried out later.
    expect((await apiClient(idle.url).call('GET', '/ready')).status).toBe(200)
    await idle.close()
    const partly = await startService({ env: { WORKER_QUEUES: 'runs' } })
    await eventually('the worker to be seen', async () => {
      expect(await workers(partly.url)).toEqual({
        status: 'down',
        detail: 'no worker polls documents, accounts, deletions, schedules, crawls',
      })
      return true
    })
    await partly.close()
    const threadsBefore = workerThreads()
    const whole = await startService()
    // The workers of all queues share one thread for their workflows, which a test before may have left: a thread for
    // each took 36 MB.
    expect(workerThreads() - threadsBefore).toBeLessThanOrEqual(1)
    await eventually('all workers to be seen', async () => (await workers(whole.url)).status === 'ok')
    await whole.close()
  })
})

/** Threads of this process that execute JavaScript, besides the main thread. */
function workerThreads(): number {
  const report = process.report.getReport() as { workers?: unknown[] }
  return report.workers?.length ?? 0
}
