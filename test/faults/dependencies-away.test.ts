import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { conversation } from '../runs/support.ts'
import { type Answer, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { startProxyOf } from '../support/tcp-proxy.ts'
import { useStarted } from '../support/use-started.ts'
import { goodPassword, newEmail } from '../support/users.ts'

type Dependency = 'mongodb' | 'redis' | 'temporal'
type Talk = Awaited<ReturnType<typeof conversation>>

/** Far above what is promised (five seconds), far below what a call without a limit takes (a minute, or for ever). */
const limitMs = 12_000
const publicToken = 'a-public-token-of-some-length'

/** One request of every kind, by what it does. */
function requests(service: ModelService, talk: Talk): Record<string, () => Promise<Answer>> {
  const anybody = apiClient(service.url)
  const stranger = apiClient(service.url, publicToken)
  const { call } = talk.client
  const file = () => {
    const form = new FormData()
    form.append('files', new Blob(['some text']), 'a.txt')
    return form
  }
  return {
    'an account': () => anybody.call('POST', '/auth/signup', { email: newEmail(), password: goodPassword }),
    'a login': () => anybody.call('POST', '/auth/login', { email: newEmail(), password: goodPassword }),
    'a list': () => call('GET', '/threads/'),
    'a creation': () => call('POST', '/threads/', { name: 'New' }),
    'a state': () => call('GET', `/threads/${talk.threadId}/state`),
    'a run': () => call('POST', '/runs/', talk.payload('Go')),
    'a run that may be refused': () => call('POST', '/runs/', talk.payload('Go', { multitask_strategy: 'reject' })),
    'a stream': () => call('POST', '/runs/stream', talk.payload('Go')),
    'a cancellation': async () => call('POST', `/runs/${(await waitingRun).runId}/cancel`),
    'a schedule': () => call('POST', '/schedules/', scheduleOf(talk)),
    'an upload': () => call('POST', `/assistants/${talk.assistantId}/files?wait=false`, file()),
    'a deletion': async () => call('DELETE', `/threads/${(await extraThread).thread_id}`),
    'a public answer': () =>
      stranger.call('POST', '/public/compat/v1/chat/completions', {
        model: 'm',
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    statistics: () => anybody.call('GET', `/admin/system-stats?admin_token=${service.settings.adminToken}`),
  }
}

const scheduleOf = ({ assistantId }: Talk) => ({
  assistant_id: assistantId,
  input: [{ type: 'human', content: 'Hi' }],
  cron: '0 0 1 1 *',
})

let extraThread: Promise<{ thread_id: string }>
/** It waits for results of its client. */
let waitingRun: ReturnType<Talk['stream']>

describe.each<{ dependency: Dependency; variable: string; timeoutSeconds: number; needed: string[] | 'all' }>([
  { dependency: 'mongodb', variable: 'MONGODB_URI', timeoutSeconds: 4, needed: 'all' },
  { dependency: 'redis', variable: 'REDIS_URL', timeoutSeconds: 8, needed: [] },
  {
    dependency: 'temporal',
    variable: 'TEMPORAL_ADDRESS',
    timeoutSeconds: 4,
    needed: [
      'an account',
      'a run',
      'a run that may be refused',
      'a stream',
      'an upload',
      'a deletion',
      'a public answer',
    ],
  },
])('while $dependency is unreachable', { timeout: 180_000 }, ({ dependency, variable, timeoutSeconds, needed }) => {
  let proxy: Awaited<ReturnType<typeof startProxyOf>>
  let service: ModelService
  let talk: Talk

  beforeAll(async () => {
    const shared = inject('services')
    const addresses = { mongodb: shared.mongodbUri, redis: shared.redisUrl, temporal: shared.temporalAddress }
    proxy = await startProxyOf(addresses[dependency])
    service = await startModelService({
      env: {
        [variable]: proxy.throughProxy,
        DEPENDENCY_TIMEOUT_SECONDS: String(timeoutSeconds),
      },
      respond: ({ body: { tools = [] } }) =>
        tools.some((tool: any) => tool.function.name === 'ask_user')
          ? { toolCalls: [{ id: 'c1', name: 'ask_user', arguments: {} }] }
          : { text: 'An answer.' },
    })
    talk = await conversation(service, {
      'type==agent/access_mode': 'public_token',
      'type==agent/public_token': publicToken,
    })
    extraThread = talk.client.post('/threads/', { name: 'To be deleted' })
    await extraThread
    const { thread_id: another } = await talk.client.post('/threads/', { name: 'Waits' })
    waitingRun = talk.stream('Ask me', { thread_id: another, tools: [{ name: 'ask_user' }] })
    expect((await waitingRun).end).toBe('end')
  })
  afterAll(async () => {
    await service.close()
    await proxy.close()
  })

  it.each(['refuse', 'swallow'] as const)(
    'every kind of request is answered in time, and succeeds again when it is back (%s)',
    async (way) => {
      const startedAt = Date.now()
      proxy[way]()
      const answers = Object.entries(requests(service, talk)).map(async ([kind, request]) => {
        const { status, body } = await request()
        const isNeeded = needed === 'all' || needed.includes(kind)
        const outcome = status < 500 ? 'answered' : `${status} ${typeof body?.detail}`
        expect(`${kind}: ${outcome}`).toBe(`${kind}: ${isNeeded ? '503 string' : 'answered'}`)
        return Date.now() - startedAt
      })
      const times = await Promise.all(answers).finally(() => proxy.restore())
      expect(Math.max(...times)).toBeLessThan(limitMs)

      await eventually(
        'a run from beginning to end',
        async () => {
          const run = await talk.stream('Are you back?')
          return run.status === 200 && run.end === 'end' && run.messages.at(-1)?.data.content === 'An answer.'
        },
        60_000,
      )
      const status = await eventually('every dependency to be well', async () => {
        const { dependencies } = await talk.client.get('/ok')
        return dependencies[dependency].status === 'ok' && 'ok'
      })
      expect(status).toBe('ok')
    },
  )

  it('an open stream receives its whole answer when it is back', async () => {
    const fresh = await conversation(service)
    const response = fresh.stream('Hello')
    proxy.swallow()
    await new Promise((resolve) => setTimeout(resolve, 500))
    proxy.restore()
    const run = await response
    expect(['end', 503]).toContain(run.status === 200 ? run.end : run.status)
  })
})

describe('while there is no worker', () => {
  const service = useStarted(() => startModelService({ worker: false, env: { DEPENDENCY_TIMEOUT_SECONDS: '4' } }))

  it('a run with reject is accepted on an idle thread, and refused on a busy one, in time', async () => {
    const talk = await conversation(service)
    const start = () => talk.client.call('POST', '/runs/', talk.payload('Go', { multitask_strategy: 'reject' }))
    const startedAt = Date.now()
    expect([(await start()).status, (await start()).status]).toEqual([200, 409])
    expect(Date.now() - startedAt).toBeLessThan(limitMs)
    const { runs } = await talk.client.get(`/threads/${talk.threadId}/runs`)
    expect(runs).toMatchObject([{ status: 'running' }])
  })
})
