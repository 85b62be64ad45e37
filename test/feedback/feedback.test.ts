import type { IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { feedbackContract } from '../../domain/contracts/feedback.ts'
import { newId } from '../../domain/ids.ts'
import type { FeedbackRecord } from '../../domain/records/feedback.ts'
import type { ApiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { historyText, recordHistory } from '../support/histories.ts'
import { readJson, sendJson, startHttpServer } from '../support/http-server.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

interface Delivery {
  path: string | undefined
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
}

/** The receiver speaks the interface of the tracing service and answers the statuses that a test lines up. */
describe('feedback', () => {
  let service: ModelService
  let receiver: Awaited<ReturnType<typeof startHttpServer>>
  let client: ApiClient
  let runId: string
  const deliveries: Delivery[] = []
  const statuses: number[] = []

  beforeAll(async () => {
    receiver = await startHttpServer(async (request, response) => {
      deliveries.push({ path: request.url, headers: request.headers, body: await readJson(request) })
      sendJson(response, statuses.shift() ?? 200, {})
    })
    service = await startModelService({
      respond: () => ({ text: 'Fine.' }),
      env: { LANGSMITH_ENDPOINT: receiver.url, LANGSMITH_API_KEY: 'lsv2-secret' },
    })
    client = await insertUser(service)
    const { thread_id } = await client.post('/threads/', {})
    const { assistant_id } = await client.post('/assistants/', { name: 'A' })
    runId = (
      await client.post('/runs/', { thread_id, assistant_id, input: [{ type: 'human', content: 'How are you?' }] })
    ).run_id
  })
  afterAll(async () => {
    await service.close()
    await receiver.close()
  })
  beforeEach(() => {
    deliveries.length = 0
    statuses.length = 0
  })

  const ended = (id: string) => service.temporal.workflow.getHandle(feedbackContract.id({ feedbackId: id })).result()
  const historyOf = (id: string) =>
    service.temporal.workflow.getHandle(feedbackContract.id({ feedbackId: id })).fetchHistory()
  const stored = (id: string) => service.collections.feedback.findById(id).lean<FeedbackRecord>()

  it('is stored and delivered, with retries while the tracing service fails', async () => {
    statuses.push(500, 429)
    const answer = await client.post('/runs/feedback', {
      run_id: runId,
      key: 'helpful',
      score: 0.5,
      value: { 'a.b': [1] },
      comment: 'Good',
    })
    expect(answer).toEqual({ status: 'submitted', feedback_id: expect.any(String) })
    expect(await ended(answer.feedback_id)).toBe('delivered')
    await recordHistory('feedback-delivered', await historyOf(answer.feedback_id))
    expect(deliveries).toHaveLength(3)
    expect(deliveries[2]).toMatchObject({
      path: '/feedback',
      headers: { 'x-api-key': 'lsv2-secret' },
      body: {
        id: answer.feedback_id,
        run_id: runId,
        key: 'helpful',
        score: 0.5,
        value: { 'a.b': [1] },
        comment: 'Good',
      },
    })
    expect(new Set(deliveries.map(({ body }) => body['id'])).size).toBe(1)
    expect(await stored(answer.feedback_id)).toMatchObject({ status: 'delivered', delivered_at: expect.any(Date) })
  })

  it('is kept when the tracing service refuses it', async () => {
    statuses.push(400)
    const { feedback_id: id } = await client.post('/runs/feedback', { run_id: runId, key: 'helpful', score: true })
    expect(await ended(id)).toBe('failed')
    await recordHistory('feedback-refused', await historyOf(id))
    expect(deliveries).toHaveLength(1)
    expect(await stored(id)).toMatchObject({ status: 'failed', score: true })
  })

  it('counts as delivered when an earlier attempt was', async () => {
    statuses.push(409)
    const { feedback_id: id } = await client.post('/runs/feedback', { run_id: runId, key: 'helpful', value: 'good' })
    expect(await ended(id)).toBe('delivered')
  })

  it('writes no text, names or keys into the history', async () => {
    const { feedback_id: id } = await client.post('/runs/feedback', {
      run_id: runId,
      key: 'k-unusual',
      comment: 'c-unusual',
    })
    await ended(id)
    const history = historyText(await historyOf(id))
    expect(history).toContain(id)
    for (const word of ['unusual', 'lsv2-secret']) expect(history).not.toContain(word)
  })

  it("is accepted for the caller's own runs only", async () => {
    await client.post('/runs/feedback', { run_id: newId(), key: 'k' }, 404)
    const other = await insertUser(service)
    await other.post('/runs/feedback', { run_id: runId, key: 'k' }, 404)
    await client.post('/runs/feedback', { key: 'k' }, 422)
    await client.post('/runs/feedback', { run_id: runId, key: '' }, 422)
    await client.post('/runs/feedback', { run_id: runId, key: 'k', score: 'high' }, 422)
    expect((await fetch(`${service.url}/runs/feedback`, { method: 'POST' })).status).toBe(401)
  })
})

describe('feedback without a tracing service', () => {
  const service = useSharedService({ respond: () => ({ text: 'Fine.' }) })

  it('is stored, and deleted with its thread', async () => {
    const client = await insertUser(service)
    const { thread_id } = await client.post('/threads/', {})
    const { assistant_id } = await client.post('/assistants/', { name: 'A' })
    const run = await client.post('/runs/', { thread_id, assistant_id, input: [{ type: 'human', content: 'Hi' }] })
    await eventually('the run ends', async () => (await client.get(`/runs/${run.run_id}`)).status === 'success')
    const { feedback_id: id } = await client.post('/runs/feedback', { run_id: run.run_id, key: 'k', score: 1 })
    expect(await service.collections.feedback.findById(id).lean()).toMatchObject({ status: 'stored', score: 1 })
    await client.delete(`/threads/${thread_id}`)
    expect(await service.collections.feedback.countDocuments({ thread_id })).toBe(0)
  })
})
