import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startApi } from '../../api/start-api.ts'
import { threadContract } from '../../domain/contracts/thread.ts'
import { createLogger } from '../../infra/logger.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { readEvents } from '../support/sse.ts'
import { startProxyOf } from '../support/tcp-proxy.ts'
import { useStarted } from '../support/use-started.ts'
import { conversation } from './support.ts'

const never = new Promise<never>(() => {})

/** Processes that execute steps themselves: Temporal gives them the first tasks of the runs that they store. */
describe('the first step of a run', () => {
  let proxy: Awaited<ReturnType<typeof startProxyOf>>
  let database: Awaited<ReturnType<typeof startProxyOf>>
  let service: ModelService
  let second: Awaited<ReturnType<typeof startApi>>

  beforeAll(async () => {
    proxy = await startProxyOf(inject('services').temporalAddress)
    database = await startProxyOf(inject('services').mongodbUri)
    service = await startModelService({
      env: {
        TEMPORAL_ADDRESS: proxy.throughProxy,
        MONGODB_URI: database.throughProxy,
        RUNS_IN_API: 'true',
        DEPENDENCY_TIMEOUT_SECONDS: '5',
      },
      // For so long the first step waits for its workflow.
      settings: { runTaskTimeoutSeconds: 10 },
      respond: ({ body: { messages } }) => ({ text: `Answer to ${String(messages.at(-1)?.content)}` }),
    })
    second = await startApi({ ...service.settings, noteProblem: service.noteProblem }, createLogger('second', 'silent'))
    await second.servesRuns
  })
  afterAll(async () => {
    proxy.restore()
    await second.close()
    await service.close()
    await proxy.close()
    await database.close()
  })

  const questions = (content: string) =>
    service.model.requests.filter(({ body: { messages } }) => messages.at(-1)?.content === content)
  const contents = async (talk: Awaited<ReturnType<typeof conversation>>) =>
    (await talk.messages()).map(({ data }) => data.content)

  async function storedRun(threadId: string) {
    const find = () => service.collections.runs.findOne({ thread_id: threadId }).lean()
    await eventually('the stored run', async () => (await find()) !== null)
    return find()
  }

  async function untilItsWorkflowHasEnded(threadId: string): Promise<void> {
    await service.temporal.workflow.getHandle(threadContract.id({ threadId })).result()
  }

  it('shows words before it is known that the thread has not changed, and stores nothing until then', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    service.model.reply({
      when: ({ body }) => body.messages.at(-1)?.content === 'Shown',
      after: gate.promise,
      text: ['Words', ' and more'],
    })
    const run = readEvents(await talk.client.fetch('POST', '/runs/stream', talk.payload('Shown')))
    for await (const { event } of run) if (event === 'metadata') break
    gate.resolve()
    await untilItsWorkflowHasEnded(talk.threadId)
    expect(await contents(talk)).toEqual(['Shown', 'Words and more'])
    expect(questions('Shown')).toHaveLength(1)
  })

  it('asks nothing before Temporal has taken the run', async () => {
    const talk = await conversation(service)
    proxy.swallow()
    const run = talk.stream('Not yet')
    expect(await storedRun(talk.threadId)).toMatchObject({ status: 'running', fence: 1 })
    expect(questions('Not yet')).toEqual([])
    proxy.restore()
    expect(await run).toMatchObject({ end: 'end', messages: [{ data: { content: 'Answer to Not yet' } }] })
    expect(questions('Not yet')).toHaveLength(1)
  })

  it.each([
    { what: 'its thread', mark: 'threads', change: { deleting: true } },
    { what: 'its assistant', mark: 'assistants', change: { deleting: true } },
    { what: 'its owner (suspended)', mark: 'assistants', change: { suspended: true } },
  ] as const)('is taken back if $what goes while Temporal takes the run', async ({ mark, change }) => {
    const talk = await conversation(service)
    const content = `Deleted ${mark} ${Object.keys(change).join()}`
    service.model.reply({
      when: ({ body }) => body.messages.at(-1)?.content === content,
      text: ['Words that', never],
    })
    proxy.swallow()
    const run = talk.stream(content)
    const stored = await storedRun(talk.threadId)
    // What a deletion or a suspension does first.
    if (mark === 'threads') await service.collections.threads.updateOne({ _id: talk.threadId }, { $set: change })
    else await service.collections.assistants.updateOne({ _id: talk.assistantId }, { $set: change })
    proxy.restore()
    expect(await run).toMatchObject({ status: 200, end: 'error', error: { type: 'cancelled' } })
    await untilItsWorkflowHasEnded(talk.threadId)
    const left = await service.collections.runs.find({ thread_id: talk.threadId }).lean()
    // The deletion of a thread may have looked for runs already; another thread keeps its cancelled run.
    expect(left.map(({ status }) => status)).toEqual(mark === 'threads' ? [] : ['cancelled'])
    const answers = await service.collections.checkpoints.find({ thread_id: talk.threadId, source: 'step' }).lean()
    expect(answers.filter(({ messages_json: json }) => !json.includes('"incomplete":true'))).toEqual([])
    const keysLeft = async () => (await service.redis.keys(`*${stored?._id}*`)).length
    await eventually('nothing in Redis', async () => mark === 'assistants' || (await keysLeft()) === 0)
  })

  it('is refused with its run if Temporal does not take it, and the next run is answered alone', async () => {
    const talk = await conversation(service)
    proxy.swallow()
    const refused = await talk.client.fetch('POST', '/runs/stream', talk.payload('Refused'))
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining('could not be started')])
    expect(await storedRun(talk.threadId)).toMatchObject({ status: 'error', error: { type: 'unavailable' } })
    proxy.restore()
    expect(await talk.stream('Next')).toMatchObject({ end: 'end' })
    await service.api.platform.runs.runUpkeep.sweep(() => Date.now() + 120_000)
    expect(questions('Refused')).toEqual([])
    expect(await contents(talk)).toEqual(['Next', 'Answer to Next'])
  })

  it('is given the answer of another process whose run was before it', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    const { arrived } = service.model.reply({
      when: ({ body }) => body.messages.at(-1)?.content === 'One',
      text: ['Answer', gate.promise, ' to One'],
    })
    const one = talk.client.fetch('POST', '/runs/stream', talk.payload('One'))
    await arrived
    const two = await apiClient(second.address, talk.client.token).fetch('POST', '/runs/stream', talk.payload('Two'))
    expect(two.status).toBe(200)
    gate.resolve()
    await (await one).text()
    await two.text()
    const asked = questions('Two').map(({ body: { messages } }) => messages.map(({ content }) => content))
    expect(asked).toEqual([['One', 'Answer to One', 'Two']])
    expect(await contents(talk)).toEqual(['One', 'Answer to One', 'Two', 'Answer to Two'])
  })
})

describe('a first step that finds all slots taken', () => {
  const service = useStarted(() =>
    startModelService({
      worker: false,
      settings: { runsInApi: true, modelStepsAtOnce: 1, runTaskTimeoutSeconds: 30 },
    }),
  )

  it('is shown what was added to its thread while it waited', async () => {
    const [busy, talk] = [await conversation(service), await conversation(service)]
    const gate = Promise.withResolvers<void>()
    const { arrived } = service.model.reply({ text: ['Slow', gate.promise] })
    const slow = busy.stream('Slow')
    await arrived
    service.model.reply({ text: 'Answer' })
    const { run_id: runId } = await talk.start('Question')
    await talk.client.post(`/threads/${talk.threadId}/state`, { values: [{ type: 'human', content: 'Added' }] })
    gate.resolve()
    await slow
    expect(await talk.join(runId)).toMatchObject({ end: 'end' })
    expect(service.model.requests.at(-1)?.body.messages.map(({ content }) => content)).toContain('Added')
  })
})
