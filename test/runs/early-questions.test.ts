import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startApi } from '../../api/start-api.ts'
import { threadContract } from '../../domain/contracts/thread.ts'
import { createLogger } from '../../infra/logger.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { startProxyOf } from '../support/tcp-proxy.ts'
import { conversation } from './support.ts'

const timeoutSeconds = 3

describe('the first question of a run', () => {
  let proxy: Awaited<ReturnType<typeof startProxyOf>>
  let service: ModelService
  let second: Awaited<ReturnType<typeof startApi>>

  beforeAll(async () => {
    proxy = await startProxyOf(inject('services').temporalAddress)
    service = await startModelService({
      env: {
        TEMPORAL_ADDRESS: proxy.throughProxy,
        RUNS_IN_API: 'true',
        DEPENDENCY_TIMEOUT_SECONDS: String(timeoutSeconds),
      },
      respond: ({ body: { messages } }) => ({ text: `Answer to ${String(messages.at(-1)?.content)}` }),
    })
    second = await startApi({ ...service.settings, checkResponses: true }, createLogger('second', 'silent'))
    await second.servesRuns
    // Both have seen that Temporal gives them the first tasks of their runs.
    for (const url of [service.url, second.address]) await (await conversation({ ...service, url })).stream('Hello')
  })
  afterAll(async () => {
    proxy.restore()
    await second.app.close()
    await second.platform.close()
    await service.close()
    await proxy.close()
  })

  const questions = (content: string) =>
    service.model.requests.filter(({ body: { messages } }) => messages.at(-1)?.content === content)

  async function untilItsWorkflowHasEnded(threadId: string): Promise<void> {
    await service.temporal.workflow.getHandle(threadContract.id({ threadId })).result()
  }

  it('is sent before Temporal has taken the run, and nothing is shown until then', async () => {
    const talk = await conversation(service)
    proxy.swallow()
    const run = talk.stream('First')
    await eventually('the question', async () => questions('First').length === 1)
    const [stored] = await service.collections.runs.find({ thread_id: talk.threadId }).lean()
    expect(stored).toMatchObject({ status: 'pending' })
    expect(await service.collections.checkpoints.countDocuments({ thread_id: talk.threadId })).toBe(0)
    expect(await service.redis.keys(`*${stored?._id}*`)).toEqual([])
    proxy.restore()
    expect(await run).toMatchObject({ end: 'end', messages: [{ data: { content: 'Answer to First' } }] })
    expect(questions('First')).toHaveLength(1)
    await untilItsWorkflowHasEnded(talk.threadId)
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['First', 'Answer to First'])
  })

  it('is dropped if Temporal does not take the run', async () => {
    const talk = await conversation(service)
    const { ended } = service.model.reply({
      when: ({ body }) => body.messages.at(-1)?.content === 'Refused',
      text: ['Words that', new Promise(() => {})],
    })
    proxy.swallow()
    const answer = await talk.client.fetch('POST', '/runs/stream', talk.payload('Refused'))
    expect(answer.status).toBe(503)
    expect(await ended).toBe('dropped')
    proxy.restore()
    const [stored] = await service.collections.runs.find({ thread_id: talk.threadId }).lean()
    expect(stored).toMatchObject({ status: 'error', error: { type: 'unavailable' } })
    expect(await service.collections.checkpoints.countDocuments({ thread_id: talk.threadId })).toBe(0)
  })

  it('is not sent early if the run may be refused', async () => {
    const talk = await conversation(service)
    proxy.swallow()
    const answer = await talk.client.fetch(
      'POST',
      '/runs/stream',
      talk.payload('Maybe', { multitask_strategy: 'reject' }),
    )
    expect(answer.status).toBe(503)
    proxy.restore()
    expect(questions('Maybe')).toEqual([])
  })

  it('is sent again, with the answer before, if another process had a run on the thread', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    const { arrived } = service.model.reply({
      when: ({ body }) => body.messages.at(-1)?.content === 'One',
      text: ['Answer', gate.promise, ' to One'],
    })
    const one = talk.client.fetch('POST', '/runs/stream', talk.payload('One'))
    await arrived
    // The other process knows an empty thread, and learns late that it is busy.
    proxy.slow(200)
    const two = apiClient(second.address, talk.client.token).fetch('POST', '/runs/stream', talk.payload('Two'))
    await eventually('the early question', async () => questions('Two').length === 1)
    expect((await two).status).toBe(200)
    proxy.restore()
    gate.resolve()
    await (await one).text()
    await (await two).text()
    await untilItsWorkflowHasEnded(talk.threadId)
    const asked = questions('Two').map(({ body: { messages } }) => messages.map(({ content }) => content))
    expect(asked).toEqual([['Two'], ['One', 'Answer to One', 'Two']])
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual([
      'One',
      'Answer to One',
      'Two',
      'Answer to Two',
    ])
  })
})
