import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startApi } from '../../api/start-api.ts'
import { deletionContract } from '../../domain/contracts/deletion.ts'
import { createLogger } from '../../infra/logger.ts'
import { conversation } from '../runs/support.ts'
import { type Answer, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { startGrpcProxy } from '../support/grpc-proxy.ts'
import { useModelService } from '../support/model-service.ts'
import { startProxyOf } from '../support/tcp-proxy.ts'
import { goodPassword, newEmail } from '../support/users.ts'

/** Calls of this method are the signs of life that the service asks for: eight in the time after which it gives up. */
const signOfLife = 'GetSystemInfo'
const longerThanTheLimit = 12
const enoughToBeSlow = 4

type Talk = Awaited<ReturnType<typeof conversation>>

describe.each([
  { way: 'by its own connection', runsInApi: false },
  { way: 'by the connection of its worker', runsInApi: true },
])('a Temporal that lives and is slow, asked $way', { timeout: 120_000 }, ({ runsInApi }) => {
  const service = useModelService({ respond: () => ({ text: 'An answer.' }), env: { EMBEDDING_DIMENSIONS: '64' } })
  let proxy: Awaited<ReturnType<typeof startGrpcProxy>>
  let api: Awaited<ReturnType<typeof startApi>>

  beforeAll(async () => {
    proxy = await startGrpcProxy(inject('services').temporalAddress)
    const settings = { ...service.settings, temporalAddress: proxy.address, dependencyTimeoutSeconds: 2, runsInApi }
    api = await startApi(settings, createLogger('slow', 'silent'))
    await api.servesRuns
  })
  afterAll(async () => {
    await api.close()
    await proxy.close()
  })

  const talkOf = () => conversation({ ...service, url: api.address })

  /** A run whose start Temporal holds back. */
  async function startHeld(content: string) {
    const talk = await talkOf()
    const before = service.model.requests.length
    const start = proxy.hold('StartWorkflowExecution')
    const slow = proxy.calls(signOfLife, enoughToBeSlow)
    const isSent = proxy.calls('StartWorkflowExecution', 1)
    const answer = talk.stream(content)
    await isSent
    return { talk, start, slow, answer, timesAsked: () => service.model.requests.length - before }
  }

  it('gets a run later, once', async () => {
    const { talk, start, answer, timesAsked } = await startHeld('Hello')
    await proxy.calls(signOfLife, longerThanTheLimit)
    await start.release()
    expect(await answer).toMatchObject({ status: 200, end: 'end' })
    expect((await talk.messages()).map(({ type }) => type)).toEqual(['HumanMessage', 'AIMessage'])
    expect(timesAsked()).toBe(1)
    const { runs } = await talk.client.get(`/threads/${talk.threadId}/runs`)
    expect(runs).toMatchObject([{ status: 'success' }])
  })

  it('gets a run once, although a worker that takes its process for dead passes it on meanwhile', async () => {
    const { talk, start, slow, answer, timesAsked } = await startHeld('Hello')
    await service.api.platform.runs.runUpkeep.sweep(() => Date.now() + 120_000)
    await slow
    await start.release()
    expect(await answer).toMatchObject({ status: 200, end: 'end' })
    expect((await talk.messages()).map(({ type }) => type)).toEqual(['HumanMessage', 'AIMessage'])
    expect(timesAsked()).toBe(1)
  })

  it('gets a run that was cancelled meanwhile, and the model is not asked', async () => {
    const { talk, start, slow, answer, timesAsked } = await startHeld('Never mind')
    const { runs } = await talk.client.get(`/threads/${talk.threadId}/runs`)
    await talk.client.post(`/runs/${runs[0].run_id}/cancel`)
    await slow
    await start.release()
    expect(await answer).toMatchObject({ status: 200, end: 'error', error: { type: 'cancelled' } })
    expect(await talk.stream('Next')).toMatchObject({ end: 'end' })
    expect(timesAsked()).toBe(1)
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['Never mind', 'Next', 'An answer.'])
  })

  it('gets no run that was refused, even if it takes it later', async () => {
    const talk = await talkOf()
    const before = service.model.requests.length
    const start = proxy.hold('StartWorkflowExecution')
    const refused = await talk.client.fetch('POST', '/runs/', talk.payload('Never asked'))
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    await start.release()

    expect(await talk.stream('Asked')).toMatchObject({ status: 200, end: 'end' })
    expect(service.model.requests.slice(before)).toHaveLength(1)
    expect(JSON.stringify(service.model.requests.slice(before))).not.toContain('Never asked')
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['Asked', 'An answer.'])
    const { runs } = await talk.client.get(`/threads/${talk.threadId}/runs`)
    expect(runs.map(({ status }: { status: string }) => status).toSorted()).toEqual(['error', 'success'])
  })

  if (runsInApi) return

  it.each<{ kind: string; method: string; expected?: number; request: (talk: Talk) => Promise<() => Promise<Answer>> }>(
    [
      {
        kind: 'a sign-up',
        method: 'StartWorkflowExecution',
        request: async () => () =>
          apiClient(api.address).call('POST', '/auth/signup', { email: newEmail(), password: goodPassword }),
      },
      {
        kind: 'a wrong code',
        method: 'UpdateWorkflowExecution',
        expected: 400,
        request: async () => {
          const email = newEmail()
          const { call } = apiClient(api.address)
          await call('POST', '/auth/signup', { email, password: goodPassword })
          return () => call('POST', '/auth/verify-email', { email, code: '000000' })
        },
      },
      {
        kind: 'a forgotten password',
        method: 'SignalWithStartWorkflowExecution',
        request: async () => {
          const email = newEmail()
          const { call } = apiClient(api.address)
          await call('POST', '/auth/signup', { email, password: goodPassword })
          return () => call('POST', '/auth/forgot-password', { email })
        },
      },
      {
        kind: 'an upload',
        method: 'StartWorkflowExecution',
        request:
          async ({ client, assistantId }) =>
          () => {
            const form = new FormData()
            form.append('files', new Blob(['some text']), 'a.txt')
            return client.call('POST', `/assistants/${assistantId}/files?wait=false`, form)
          },
      },
      {
        kind: 'a deletion',
        method: 'StartWorkflowExecution',
        request:
          async ({ client, threadId }) =>
          () =>
            client.call('DELETE', `/threads/${threadId}`),
      },
      {
        kind: 'a schedule',
        method: 'CreateSchedule',
        request:
          async ({ client, assistantId }) =>
          () =>
            client.call('POST', '/schedules/', {
              assistant_id: assistantId,
              input: [{ type: 'human', content: 'Hi' }],
              cron: '0 0 1 1 *',
            }),
      },
      {
        kind: 'a cancellation',
        method: 'SignalWorkflowExecution',
        request: async (talk) => {
          const { run_id: runId } = await talk.start('Ask me', { tools: [{ name: 'ask_user' }] })
          return () => talk.client.call('POST', `/runs/${runId}/cancel`)
        },
      },
    ],
  )('gets $kind later', async ({ method, expected = 200, request }) => {
    const ask = await request(await talkOf())
    const held = proxy.hold(method)
    const called = proxy.calls(method, 1)
    const answer = ask()
    await called
    await proxy.calls(signOfLife, longerThanTheLimit)
    await held.release()
    const { status, body } = await answer
    expect([status, body]).toEqual([expected, expect.anything()])
  })
})

describe('a Temporal that refuses connections', () => {
  const service = useModelService({ respond: () => ({ text: 'An answer.' }) })

  it('is not asked again, when it is back, for what was refused meanwhile', async () => {
    const proxy = await startProxyOf(inject('services').temporalAddress)
    const settings = { ...service.settings, temporalAddress: proxy.throughProxy, dependencyTimeoutSeconds: 2 }
    const api = await startApi(settings, createLogger('refused', 'silent'))
    const { client, threadId } = await conversation({ ...service, url: api.address })
    proxy.refuse()
    expect((await client.call('DELETE', `/threads/${threadId}`)).status).toBe(503)
    proxy.restore()
    await eventually('Temporal is back', async () => (await client.get('/ok')).dependencies.temporal.status === 'ok')
    // It waits for attempts that are planned.
    await api.close()
    await proxy.close()
    const deletion = service.temporal.workflow.getHandle(deletionContract.id({ kind: 'thread', id: threadId }))
    await expect(deletion.describe()).rejects.toThrow(/not found/i)
  })
})
