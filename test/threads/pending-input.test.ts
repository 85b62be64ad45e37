import { describe, expect, it } from 'vitest'
import { conversation } from '../runs/support.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'

const contents = (messages: any[]) => messages.map((message) => message.data.content)

describe('the input of a run without a stored answer', () => {
  const service = useSharedService()

  async function running(text: string) {
    const talk = await conversation(service)
    const answer = Promise.withResolvers<void>()
    const reply = service.model.reply({ text: [answer.promise, 'Answer'] })
    const { run_id } = await talk.start(text)
    await reply.arrived
    const { client, threadId } = talk
    return {
      ...talk,
      runId: String(run_id),
      answer,
      state: () => client.get(`/threads/${threadId}/state`),
      history: (query = '') => client.get(`/threads/${threadId}/history${query}`),
      ended: () =>
        eventually('the end of the run', async () => {
          const run = await client.get(`/runs/${run_id}`)
          return ['success', 'error', 'cancelled'].includes(run.status) && run
        }),
    }
  }

  it('is part of state and history, under the same checkpoint before and after it is stored', async () => {
    const talk = await running('Question')
    const stored = () => service.collections.checkpoints.countDocuments({ thread_id: talk.threadId })
    expect(await stored()).toBe(0)
    const shown = await talk.state()
    expect(contents(shown.values.messages)).toEqual(['Question'])
    expect(shown).toMatchObject({ next: ['model'], metadata: { source: 'input', run_id: talk.runId, step: 1 } })
    expect(await talk.history()).toEqual([shown])
    expect(await talk.history(`?before=${shown.checkpoint_id}`)).toEqual([])

    talk.answer.resolve()
    await talk.ended()
    expect(contents((await talk.state()).values.messages)).toEqual(['Question', 'Answer'])
    const [newest, oldest] = await talk.history()
    expect(oldest).toMatchObject({ ...shown, next: ['model'] })
    expect(newest.parent_checkpoint_id).toBe(shown.checkpoint_id)
    expect(await stored()).toBe(2)
  })

  it('stays before messages that others add meanwhile', async () => {
    const talk = await running('Question')
    const added = await talk.client.post(`/threads/${talk.threadId}/state`, {
      values: [{ type: 'human', content: 'Note' }],
    })
    expect(contents(added.values.messages)).toEqual(['Question', 'Note'])
    talk.answer.resolve()
    expect(await talk.ended()).toMatchObject({ status: 'success' })
    expect(contents((await talk.state()).values.messages)).toEqual(['Question', 'Note', 'Answer'])
  })

  it('stays in the thread when the run fails or is cancelled, unless the run never began', async () => {
    const failing = await conversation(service)
    service.model.reply({ status: 400 })
    expect((await failing.stream('Broken')).end).toBe('error')
    await eventually('the input', async () => contents(await failing.messages()).includes('Broken') || undefined)

    const talk = await running('Stopped')
    const { run_id: waiting } = await talk.start('Never begun')
    await talk.client.post(`/runs/${waiting}/cancel`)
    await talk.client.post(`/runs/${talk.runId}/cancel`)
    await eventually('the input', async () => {
      const kept = await service.collections.checkpoints.find({ thread_id: talk.threadId }).lean()
      return kept.length > 0 || undefined
    })
    service.model.reply({ text: 'Fine' })
    await talk.stream('Next')
    expect(contents(await talk.messages())).toEqual(['Stopped', 'Next', 'Fine'])
  })
})
