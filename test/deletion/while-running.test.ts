import { describe, expect, it } from 'vitest'
import { threadContract } from '../../domain/contracts/thread.ts'
import { tracesOf } from '../support/estate.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { insertUser } from '../support/users.ts'

describe('a deletion during a run', () => {
  const service = useModelService()

  async function runningThread() {
    const user = await insertUser(service)
    const { body: assistant } = await user.call('POST', '/assistants/', { name: 'A' })
    const { body: thread } = await user.call('POST', '/threads/', {})
    service.model.reply({ text: ['One ', new Promise<never>(() => {})] })
    const stream = user.call('POST', '/runs/stream', {
      thread_id: thread.thread_id,
      input: [{ type: 'human', content: 'Count' }],
      config: { configurable: { assistant_id: assistant.assistant_id } },
    })
    const run = await eventually('the run', async () =>
      service.collections.runs
        .findOne({ thread_id: thread.thread_id, status: 'running' })
        .lean()
        .then((found) => found ?? undefined),
    )
    return {
      ...user,
      stream,
      runId: run._id,
      threadId: String(thread.thread_id),
      assistantId: String(assistant.assistant_id),
    }
  }

  it('stops the run, ends its streams, waits for its workflow, and leaves nothing of the thread', async () => {
    const { call, stream, runId, threadId, userId } = await runningThread()
    const gone = await call('DELETE', `/threads/${threadId}`)
    expect(gone).toMatchObject({ status: 200, body: { deleted: true } })
    const { text } = await stream
    expect(text).toContain('event: error')
    expect(text).toContain('"status_code":499')
    const { status } = await service.temporal.workflow.getHandle(threadContract.id({ threadId })).describe()
    expect(status.name).not.toBe('RUNNING')
    expect(await tracesOf(service, { ids: [threadId, runId], assistants: [], runs: [runId] })).toEqual([])
    expect((await call('GET', `/runs/${runId}`)).status).toBe(404)
    expect(await service.collections.users.findById(userId).lean()).toMatchObject({ thread_counter: 0 })
  })

  it('does the same for a whole account', async () => {
    const { call, stream, runId, threadId, assistantId, userId, projectId, email } = await runningThread()
    const gone = await call('DELETE', '/auth/delete-user', { email_confirmation: email })
    expect(gone).toMatchObject({ status: 200, body: { deleted: true } })
    expect((await stream).text).toContain('event: error')
    const ids = [userId, projectId, threadId, assistantId, runId]
    expect(await tracesOf(service, { ids, assistants: [assistantId], runs: [runId] })).toEqual([])
  })

  it("of the run's assistant ends the run on a thread that stays, with what was said so far", async () => {
    const { call, stream, runId, threadId, assistantId } = await runningThread()
    await eventually('words', async () => (await service.redis.xLen(`run:{${runId}}:stream`)) > 0)
    const gone = await call('DELETE', `/assistants/${assistantId}`)
    expect(gone.status).toBe(200)
    expect((await stream).text).toContain('"status_code":499')
    expect((await call('GET', `/runs/${runId}`)).body).toMatchObject({ status: 'cancelled' })
    await service.temporal.workflow.getHandle(threadContract.id({ threadId })).result()
    const { body } = await call('GET', `/threads/${threadId}/state`)
    expect(body.values.messages[0]).toMatchObject({ data: { content: 'Count' } })
    expect((await call('GET', `/threads/${threadId}`)).body).toMatchObject({ status: 'idle' })
  })
})
