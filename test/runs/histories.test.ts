import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { threadContract } from '../../domain/contracts/thread.ts'
import { eventually } from '../support/eventually.ts'
import { historyText, recordHistory } from '../support/histories.ts'
import { startHttpServer } from '../support/http-server.ts'
import { useSharedService } from '../support/shared-service.ts'
import { conversation } from './support.ts'

describe('the history of a thread', () => {
  let target: Awaited<ReturnType<typeof startHttpServer>>

  beforeAll(async () => {
    target = await startHttpServer(async (_request, response) => void response.end('TOOLRESULT'))
  })
  afterAll(() => target.close())
  const service = useSharedService()

  async function historyOf(threadId: string) {
    const handle = service.temporal.workflow.getHandle(threadContract.id({ threadId }))
    await handle.result()
    return handle.fetchHistory()
  }

  it('contains names of tools and ids, and no message text', async () => {
    const talk = await conversation(service, {
      'type==agent/system_message': 'SYSTEMTEXT',
      'type==agent/tools': [{ type: 'http_request', config: { headers: { 'x-key': 'HEADERSECRET' } } }],
      'type==agent/interrupt_before_action': true,
    })
    service.model.reply({
      text: 'ANSWERTEXT',
      toolCalls: [{ id: 'c1', name: 'http_request', arguments: { method: 'GET', url: `${target.url}/ARGUMENT` } }],
    })
    const run = await talk.stream('QUESTION')
    service.model.reply({ text: 'FINALTEXT' })
    await talk.client.post(`/runs/${run.runId}/resume`, { action: 'approve', message: 'WORDS' })
    expect((await talk.join(run.runId, run.events.at(-1)?.id)).end).toBe('end')

    const history = await historyOf(talk.threadId)
    const text = historyText(history)
    expect(text).toContain('tool.http_request')
    expect(text).toContain(run.runId)
    for (const secret of [
      'SYSTEMTEXT',
      'HEADERSECRET',
      'ANSWERTEXT',
      'ARGUMENT',
      'QUESTION',
      'TOOLRESULT',
      'FINALTEXT',
      'WORDS',
      talk.client.token,
    ]) {
      expect(text).not.toContain(secret)
    }
    await recordHistory('thread-approved-tool', history)
  })

  it('of a simple run has one local activity; a run that fails or is cancelled is settled', async () => {
    const simple = await conversation(service)
    service.model.reply({ text: 'Hello' })
    await simple.stream('Hi')
    const plain = await historyOf(simple.threadId)
    expect(plain.events?.filter((event) => event.activityTaskScheduledEventAttributes)).toEqual([])
    expect(plain.events?.filter((event) => event.markerRecordedEventAttributes)).toHaveLength(1)
    await recordHistory('thread-simple', plain)

    const failing = await conversation(service)
    service.model.reply({ status: 400 })
    await failing.stream('Hi')
    await recordHistory('thread-failed', await historyOf(failing.threadId))

    const cancelled = await conversation(service)
    const reply = service.model.reply({ text: ['Some ', new Promise<never>(() => {})] })
    const { run_id } = await cancelled.start('Hi')
    await reply.arrived
    await cancelled.client.post(`/runs/${run_id}/cancel`)
    await recordHistory('thread-cancelled', await historyOf(cancelled.threadId))
  })

  it('is found by user, assistant and run, and by status if the run did not succeed', async () => {
    const talk = await conversation(service)
    service.model.reply({ text: 'Hello' })
    const good = await talk.stream('Hi')
    await historyOf(talk.threadId)
    service.model.reply({ status: 400 })
    const bad = await talk.stream('Hi')
    await historyOf(talk.threadId)
    for (const [runId, status] of [
      [good.runId, 'ExecutionStatus = "Completed"'],
      [bad.runId, `RunStatus = 'error'`],
    ]) {
      const query = `UserId = '${talk.client.userId}' AND AssistantId = '${talk.assistantId}' AND AgentRunId = '${runId}' AND ${status}`
      const found = await eventually('the workflow in the list', async () => {
        for await (const execution of service.temporal.workflow.list({ query })) return execution
        return undefined
      })
      expect(found.workflowId).toBe(threadContract.id({ threadId: talk.threadId }))
    }
  })
})
