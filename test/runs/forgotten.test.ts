import { describe, expect, it } from 'vitest'
import { createThreadActor } from '../../infra/temporal/thread-actor.ts'
import { createRequeueForgotten } from '../../services/runs/requeue-forgotten.ts'
import { useModelService } from '../support/model-service.ts'
import { conversation } from './support.ts'

describe('a run that was stored by a process which died before it told the thread', () => {
  const service = useModelService()

  it('is handed over later, once', async () => {
    const talk = await conversation(service)
    service.model.reply({ text: 'First' })
    const first = await talk.stream('one')
    const stored = await service.collections.runs.findById(first.runId).lean()
    const lost = {
      ...stored,
      _id: crypto.randomUUID(),
      status: 'pending' as const,
      fence: 0,
      created_at: new Date(Date.now() - 60_000),
      input_json: JSON.stringify([{ type: 'HumanMessage', data: { id: 'm2', content: 'two' } }]),
    }
    await service.collections.runs.create(lost)
    const requeue = createRequeueForgotten({
      collections: service.collections,
      actor: createThreadActor(service.temporal, service.settings.taskQueuePrefix),
    })
    service.model.reply({ text: 'Second' })
    expect(await requeue()).toBe(1)
    expect((await talk.join(lost._id)).end).toBe('end')
    expect(await requeue()).toBe(0)
    expect((await talk.messages()).map(({ data }) => data.content)).toEqual(['one', 'First', 'two', 'Second'])
  })
})
