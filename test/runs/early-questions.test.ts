import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startApi } from '../../api/start-api.ts'
import { threadContract } from '../../domain/contracts/thread.ts'
import { createLogger } from '../../infra/logger.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { startHttpServer } from '../support/http-server.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { readEvents } from '../support/sse.ts'
import { startProxyOf } from '../support/tcp-proxy.ts'
import { conversation, readRun } from './support.ts'

const timeoutSeconds = 5

describe('the questions of a run', () => {
  let proxy: Awaited<ReturnType<typeof startProxyOf>>
  let database: Awaited<ReturnType<typeof startProxyOf>>
  let service: ModelService
  let second: Awaited<ReturnType<typeof startApi>>
  let weather: Awaited<ReturnType<typeof startHttpServer>>
  let onWeather = () => {}

  beforeAll(async () => {
    weather = await startHttpServer(async (_request, response) => {
      onWeather()
      response.end('sunny')
    })
    proxy = await startProxyOf(inject('services').temporalAddress)
    database = await startProxyOf(inject('services').mongodbUri)
    service = await startModelService({
      env: {
        TEMPORAL_ADDRESS: proxy.throughProxy,
        MONGODB_URI: database.throughProxy,
        RUNS_IN_API: 'true',
        DEPENDENCY_TIMEOUT_SECONDS: String(timeoutSeconds),
        // For so long the first step waits for its workflow.
        RUN_TASK_TIMEOUT_SECONDS: '10',
        OUTBOUND_ALLOW: '127.0.0.1/32',
      },
      respond: ({ body: { messages } }) => {
        const last = messages.at(-1)
        if (last?.content === 'Weather?') {
          const args = { method: 'GET', url: weather.url }
          return { toolCalls: [1, 2].map((id) => ({ id: `call ${id}`, name: 'http_request', arguments: args })) }
        }
        return { text: last?.role === 'tool' ? 'It is sunny.' : `Answer to ${String(last?.content)}` }
      },
    })
    second = await startApi({ ...service.settings, checkResponses: true }, createLogger('second', 'silent'))
    await second.servesRuns
    // Both have seen that Temporal gives them the first tasks of their runs.
    for (const url of [service.url, second.address]) await runTakenAt(url)
  })
  afterAll(async () => {
    proxy.restore()
    await second.app.close()
    await second.platform.close()
    await service.close()
    await proxy.close()
    await database.close()
    await weather.close()
  })

  /** From then on, a process expects that Temporal takes its runs at once. */
  async function runTakenAt(url: string): Promise<void> {
    const talk = await conversation({ ...service, url })
    expect(await talk.stream('Hello')).toMatchObject({ end: 'end' })
  }

  const questions = (content: string) =>
    service.model.requests.filter(({ body: { messages } }) => messages.at(-1)?.content === content)

  /** The question is asked while the run is being stored. */
  async function storedRun(threadId: string) {
    const find = () => service.collections.runs.findOne({ thread_id: threadId }).lean()
    await eventually('the stored run', async () => (await find()) !== null)
    return find()
  }

  async function untilItsWorkflowHasEnded(threadId: string): Promise<void> {
    await service.temporal.workflow.getHandle(threadContract.id({ threadId })).result()
  }

  it('are answered before Temporal has taken the run, and no answer is stored until then', async () => {
    const talk = await conversation(service)
    await runTakenAt(service.url)
    proxy.swallow()
    const run = readEvents(await talk.client.fetch('POST', '/runs/stream', talk.payload('First')))
    for await (const { event, data } of run) if (event === 'data' && data.includes('Answer to First')) break
    const stored = await storedRun(talk.threadId)
    expect(stored).toMatchObject({ status: 'pending' })
    expect(await service.collections.checkpoints.countDocuments({ thread_id: talk.threadId })).toBe(0)
    proxy.restore()
    expect(await talk.join(String(stored?._id))).toMatchObject({
      end: 'end',
      messages: [{ data: { content: 'Answer to First' } }],
    })
    expect(questions('First')).toHaveLength(1)
    await untilItsWorkflowHasEnded(talk.threadId)
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['First', 'Answer to First'])
  })

  it('are sent before Temporal has taken a run that nobody follows, and nothing is shown until then', async () => {
    const talk = await conversation(service)
    proxy.swallow()
    const run = talk.start('Unfollowed')
    await eventually('the question', async () => questions('Unfollowed').length === 1)
    const stored = await storedRun(talk.threadId)
    expect(await service.redis.keys(`*${stored?._id}*`)).toEqual([])
    proxy.restore()
    const { run_id: runId } = await run
    expect(await talk.join(runId)).toMatchObject({ end: 'end' })
    expect(questions('Unfollowed')).toHaveLength(1)
    await untilItsWorkflowHasEnded(talk.threadId)
  })

  it('are answered before it is known that the thread has not changed', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    const { arrived } = service.model.reply({
      when: ({ body }) => body.messages.at(-1)?.content === 'Shown',
      text: ['Words', gate.promise, ' and more'],
    })
    await runTakenAt(service.url)
    proxy.swallow()
    const answer = await talk.client.fetch('POST', '/runs/stream', talk.payload('Shown'))
    await arrived
    database.swallow()
    proxy.restore()
    const run = readEvents(answer)
    for await (const { event, data } of run) if (event === 'data' && data.includes('"Words"')) break
    gate.resolve()
    database.restore()
    await untilItsWorkflowHasEnded(talk.threadId)
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['Shown', 'Words and more'])
    expect(questions('Shown')).toHaveLength(1)
  })

  it('are dropped, and what readers have seen is removed, if the thread is deleted meanwhile', async () => {
    const talk = await conversation(service)
    const { ended } = service.model.reply({
      when: ({ body }) => body.messages.at(-1)?.content === 'Deleted',
      text: ['Words that', new Promise(() => {})],
    })
    proxy.swallow()
    const run = talk.stream('Deleted')
    await eventually('the early question', async () => questions('Deleted').length === 1)
    const stored = await storedRun(talk.threadId)
    // What a deletion does first.
    await service.collections.threads.updateOne({ _id: talk.threadId }, { $set: { deleting: true } })
    proxy.restore()
    expect(await run).toMatchObject({ status: 200, end: 'error', error: { type: 'cancelled' } })
    expect(await ended).toBe('dropped')
    await untilItsWorkflowHasEnded(talk.threadId)
    expect(await service.collections.runs.countDocuments({ thread_id: talk.threadId })).toBe(0)
    expect(await service.collections.checkpoints.countDocuments({ thread_id: talk.threadId })).toBe(0)
    await eventually('nothing in Redis', async () => (await service.redis.keys(`*${stored?._id}*`)).length === 0)
  })

  it('are dropped if Temporal does not take the run, which is passed on later', async () => {
    const talk = await conversation(service)
    const { ended } = service.model.reply({
      when: ({ body }) => body.messages.at(-1)?.content === 'Later',
      text: ['Words that', new Promise(() => {})],
    })
    await runTakenAt(service.url)
    proxy.swallow()
    const answer = await talk.client.fetch('POST', '/runs/stream', talk.payload('Later'))
    expect(answer.status).toBe(200)
    expect(await ended).toBe('dropped')
    const stored = await storedRun(talk.threadId)
    expect(stored).toMatchObject({ status: 'pending' })

    // From now on, runs wait until Temporal has taken them.
    const refused = await talk.client.fetch('POST', '/runs/stream', talk.payload('Refused'))
    expect(refused.status).toBe(503)
    expect(questions('Refused')).toEqual([])
    proxy.restore()
    expect(await service.collections.runs.findOne({ thread_id: talk.threadId, status: 'error' }).lean()).toMatchObject({
      error: { type: 'unavailable' },
    })
    expect(await service.collections.checkpoints.countDocuments({ thread_id: talk.threadId })).toBe(0)

    await service.api.platform.runs.sweepRuns(() => Date.now() + 120_000)
    expect(await readRun(answer)).toMatchObject({ end: 'end', messages: [{ data: { content: 'Answer to Later' } }] })
    await untilItsWorkflowHasEnded(talk.threadId)
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['Later', 'Answer to Later'])
  })

  it('are not sent early if the run may be refused', async () => {
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

  it('are sent again, with the answer before, if another process had a run on the thread', async () => {
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

  it('are sent as soon as all tools have been called, while Temporal is silent', async () => {
    const talk = await conversation(service, { 'type==agent/tools': [{ type: 'http_request' }] })
    const silence = Promise.withResolvers<void>()
    let calls = 0
    onWeather = () => {
      calls += 1
      // Both calls have been given out by now.
      if (calls < 2) return
      proxy.swallow()
      silence.resolve()
    }
    const run = talk.stream('Weather?')
    await silence.promise
    const withResults = () => service.model.requests.filter(({ body }) => body.messages.at(-1)?.role === 'tool')
    await eventually('the next question', async () => withResults().length === 1)
    proxy.restore()
    expect(await run).toMatchObject({ end: 'end' })
    expect(withResults()).toHaveLength(1)
    expect(withResults()[0]?.body.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool'])
    await untilItsWorkflowHasEnded(talk.threadId)
    const messages = await talk.messages()
    expect(messages.map(({ type }) => type)).toEqual([
      'HumanMessage',
      'AIMessage',
      'ToolMessage',
      'ToolMessage',
      'AIMessage',
    ])
    expect(messages.at(-1).data.content).toBe('It is sunny.')
  })
})
