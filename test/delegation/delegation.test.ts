import { describe, expect, it } from 'vitest'
import { threadContract } from '../../domain/contracts/thread.ts'
import { historyText, recordHistory } from '../support/histories.ts'
import { useSharedService } from '../support/shared-service.ts'
import { asking, asks, team } from './support.ts'

const service = useSharedService()

describe('an assistant that asks another', () => {
  it('gets its answer from a run of its own, linked both ways', async () => {
    const talk = await team(service)
    const expert = await talk.member('Expert', { 'type==agent/description': 'Knows the fees.' })
    await talk.configure(asking(expert))
    talk.says('the chief', asks('Expert'))
    talk.says('Expert', { text: 'Fees are 3 euros.' })
    talk.says('the chief', { text: 'It costs 3 euros.' })
    const run = await talk.stream('What does it cost?')
    expect(run.end).toBe('end')

    const [offered] = service.model.requests.at(-3)?.body.tools ?? []
    expect(offered?.function).toMatchObject({
      name: 'assistant',
      parameters: { properties: { assistant: { enum: ['Expert'] } } },
    })
    expect(offered?.function.description).toContain('Expert: Knows the fees.')
    expect(talk.told('the chief').map((text) => JSON.parse(text))).toEqual([{ answer: 'Fees are 3 euros.' }])

    const [asked] = run.messages[0].data.tool_calls
    const linked = { run_id: expect.any(String), thread_id: expect.any(String) }
    expect(asked).toMatchObject(linked)
    expect(run.messages[1].data.asked).toEqual({
      assistant_id: expert,
      run_id: asked.run_id,
      thread_id: asked.thread_id,
    })
    const answered = await talk.client.get(`/runs/${asked.run_id}`)
    expect(answered).toMatchObject({
      status: 'success',
      assistant_id: expert,
      thread_id: asked.thread_id,
      parent_run_id: run.runId,
      parent_call_id: asked.id,
    })
    const { values } = await talk.client.get(`/threads/${asked.thread_id}/state`)
    expect(values.messages.map(({ data }: any) => data.content)).toEqual([
      'What does Expert know?',
      'Fees are 3 euros.',
    ])
    // Found in Temporal by the run that asks.
    const { searchAttributes, typedSearchAttributes } = await service.temporal.workflow
      .getHandle(threadContract.id({ threadId: asked.thread_id }))
      .describe()
    expect(JSON.stringify(typedSearchAttributes ?? searchAttributes)).toContain(run.runId)

    for (const [name, threadId] of [
      ['thread-asking', talk.threadId],
      ['thread-asked', asked.thread_id],
    ]) {
      const handle = service.temporal.workflow.getHandle(threadContract.id({ threadId }))
      await handle.result()
      const history = await handle.fetchHistory()
      expect(historyText(history)).not.toMatch(/euros|What does/)
      await recordHistory(name, history)
    }

    // Neither listed nor counted.
    expect((await talk.client.get('/threads/')).threads.map(({ thread_id: id }: any) => id)).toEqual([talk.threadId])
    expect(await talk.client.get('/user/')).toMatchObject({ thread_counter: 1 })

    // Deleted with the conversation, and counted in its receipt.
    const { receipt_id: receipt } = await talk.client.delete(`/threads/${talk.threadId}`)
    expect(await talk.client.get(`/receipts/${receipt}`)).toMatchObject({
      status: 'complete',
      found: { threads: 2, runs: 2, checkpoints: 6, tool_calls: 1 },
      left: { threads: 0, checkpoints: 0, tool_calls: 0 },
    })
    expect(await service.collections.threads.countDocuments({ user_id: talk.client.userId })).toBe(0)
    expect(await talk.client.get('/user/')).toMatchObject({ thread_counter: 0 })
  })

  it('asks several at once, and each answer belongs to its call', async () => {
    const talk = await team(service)
    const [one, two] = [await talk.member('One'), await talk.member('Two')]
    await talk.configure(asking(one, two))
    const both = Promise.withResolvers<void>()
    talk.says('the chief', asks('One', 'Two'))
    const first = talk.says('One', { after: both.promise, text: 'First.' })
    const second = talk.says('Two', { after: both.promise, text: 'Second.' })
    // None answers before both were asked.
    void Promise.all([first.arrived, second.arrived]).then(() => both.resolve())
    talk.says('the chief', { text: 'Both.' })
    expect((await talk.stream('Ask both')).end).toBe('end')
    expect(talk.told('the chief').map((text) => JSON.parse(text).answer)).toEqual(['First.', 'Second.'])
  })

  it('asks three deep and no deeper, and never in a circle', async () => {
    const talk = await team(service)
    const c = await talk.member('C')
    const b = await talk.member('B', asking(c))
    const a = await talk.member('A', asking(b))
    await talk.configure(asking(a))
    const d = await talk.member('D')
    await talk.configure(asking(talk.assistantId, d), c, 'C', 'C')
    talk.says('the chief', asks('A'))
    talk.says('A', asks('B'))
    talk.says('B', asks('C'))
    talk.says('C', asks('Helper'))
    talk.says('C', asks('D'))
    talk.says('C', { text: 'I know it.' })
    talk.says('B', { text: 'C knows it.' })
    talk.says('A', { text: 'B heard it.' })
    talk.says('the chief', { text: 'So it is.' })
    const run = await talk.stream('Who knows?')
    expect(run.end).toBe('end')
    const [circle, deep] = talk.told('C')
    expect(circle).toContain('waits for the answer itself')
    expect(deep).toContain('3 deep at most')
    const runs = await service.collections.runs.find({ user_id: talk.client.userId }).lean()
    expect(runs.map(({ status, asked_by }) => [status, asked_by?.assistant_ids.length ?? 0])).toEqual(
      expect.arrayContaining([0, 1, 2, 3].map((depth) => ['success', depth])),
    )
    // The outermost run counts the questions of all depths.
    expect(runs.find(({ asked_by }) => asked_by === undefined)?.asking_calls).toHaveLength(3)
    const { receipt_id: receipt } = await talk.client.delete(`/threads/${talk.threadId}`)
    expect(await talk.client.get(`/receipts/${receipt}`)).toMatchObject({ found: { threads: 4 }, left: { threads: 0 } })
  })

  it('is told in words when the other fails, needs a person, or was deleted', async () => {
    const talk = await team(service)
    const failing = await talk.member('Failing')
    const careful = await talk.member('Careful', {
      'type==agent/interrupt_before_action': true,
      'type==agent/tools': [{ type: 'http_request' }],
    })
    const gone = await talk.member('Gone')
    await talk.configure(asking(failing, careful, gone))
    const deleted = Promise.withResolvers<void>()
    const call = talk.says('the chief', { ...asks('Failing', 'Careful', 'Gone'), after: deleted.promise })
    talk.says('Failing', { status: 422, errorMessage: 'no' })
    talk.says('Careful', {
      toolCalls: [{ name: 'http_request', arguments: { method: 'GET', url: 'https://example.com' } }],
    })
    talk.says('the chief', { text: 'Nobody knows.' })
    const streaming = talk.stream('Ask all')
    await call.arrived
    await talk.client.delete(`/assistants/${gone}`)
    deleted.resolve()
    expect((await streaming).end).toBe('end')
    const [failed, waited, missing] = talk.told('the chief')
    expect(failed).toContain('not answered by Failing')
    expect(waited).toContain("a person's approval")
    expect(missing).toContain('“Gone” cannot be asked')
    expect(missing).toContain('Failing, Careful')
  })

  it('takes the asked runs with it when it is cancelled', async () => {
    const talk = await team(service)
    const inner = await talk.member('Inner')
    const outer = await talk.member('Outer', asking(inner))
    await talk.configure(asking(outer))
    const never = Promise.withResolvers<void>()
    talk.says('the chief', asks('Outer'))
    talk.says('Outer', asks('Inner'))
    const { arrived, ended } = talk.says('Inner', { text: ['I am ', never.promise] })
    const run = await talk.start('Think long')
    await arrived
    await talk.client.post(`/runs/${run.run_id}/cancel`)
    await ended
    never.resolve()
    await expect
      .poll(async () =>
        (await service.collections.runs.find({ user_id: talk.client.userId }).lean()).map(({ status }) => status),
      )
      .toEqual(['cancelled', 'cancelled', 'cancelled'])
    // The conversation goes on.
    await expect.poll(async () => (await talk.messages()).length).toBe(3)
    talk.says('the chief', { text: 'Here.' })
    expect((await talk.stream('Still there?')).end).toBe('end')
  })
})
