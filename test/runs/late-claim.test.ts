import { describe, expect, it } from 'vitest'
import { modelStep } from '../../services/engine/model-step.ts'
import { SupersededError } from '../../services/engine/run-writer.ts'
import { useModelService } from '../support/model-service.ts'
import { conversation } from './support.ts'

describe('a worker that claims a run late, after Temporal has given it up', () => {
  const service = useModelService()

  it('does not end the run: the worker that has the task tries its step again', async () => {
    const talk = await conversation(service)
    const never = new Promise<never>(() => {})
    const owner = service.model.reply({ text: ['The first ', never] })
    const late = service.model.reply({ text: ['The late ', never] })
    service.model.reply({ text: 'The answer.' })
    const reading = talk.stream('Say')
    await owner.arrived
    const [run] = await service.collections.runs.find({ thread_id: talk.threadId }).lean()
    const engine = service.worker?.platform.runs.engine
    if (engine === undefined) throw new Error('the service has no worker')
    const lateStep = modelStep(engine, { runId: run?._id ?? '', step: 0 }, new AbortController().signal)
    await late.arrived
    // The task's owner claims the run again; the late one is refused from then on.
    await expect(lateStep).rejects.toBeInstanceOf(SupersededError)
    const read = await reading
    expect(read.end).toBe('end')
    expect(read.messages.map(({ data }) => data.content)).toEqual(['The answer.'])
    expect((await talk.client.get(`/runs/${read.runId}`)).status).toBe('success')
  })
})
