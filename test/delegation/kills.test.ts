import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { startDyingWorker, startWorkerProcess } from '../support/processes.ts'
import { asking, asks, systemOf, team } from './support.ts'

describe('kill -9 of workers', () => {
  let known = 'It is so.'
  const service = useModelService({
    worker: false,
    env: { WORKER_QUEUES: 'runs', RUNS_IN_API: 'false' },
    // Any number of times: a step that is lost asks the model again.
    respond: (request) => {
      if (String(systemOf(request)).startsWith('I am Expert')) return { text: known }
      return request.body.messages.at(-1)?.role === 'tool' ? { text: 'So it is.' } : asks('Expert')
    },
  })

  async function endOf(talk: Awaited<ReturnType<typeof team>>, runId: string) {
    await eventually(
      'the end of the run',
      async () => (await talk.client.get(`/runs/${runId}`)).finished_at !== null,
      60_000,
    )
    const runs = await service.collections.runs.find({ user_id: talk.client.userId }).sort({ created_at: 1 }).lean()
    return runs.map(({ status, asked_by }) => [status, asked_by?.run_id])
  }

  it('while the other answers, and after each activity, asks it once', async () => {
    const talk = await team(service)
    const expert = await talk.member('Expert')
    await talk.configure(asking(expert))

    // In the middle of the answer.
    const never = new Promise<never>(() => undefined)
    const half = talk.says('Expert', { text: ['It is ', never] })
    const first = await startWorkerProcess(service.env)
    const run = await talk.start('What is it?')
    await half.arrived
    await first.kill()
    const second = await startWorkerProcess(service.env)
    expect(await endOf(talk, run.run_id)).toEqual([
      ['success', undefined],
      ['success', run.run_id],
    ])
    expect(talk.told('the chief').map((text) => JSON.parse(text))).toEqual([{ answer: 'It is so.' }])
    await second.stop()

    // After the start of the asked run, and after each step that follows.
    known = 'Still so.'
    const next = await talk.start('And now?')
    const isOver = async () => (await talk.client.get(`/runs/${next.run_id}`)).finished_at !== null
    let deaths = 0
    while (!(await isOver())) {
      const worker = await startDyingWorker(service.env, 2)
      await Promise.race([worker.exited, eventually('the end', isOver, 60_000)])
      deaths += 1
      await worker.kill()
    }
    expect(deaths).toBeGreaterThanOrEqual(2)
    expect(await endOf(talk, next.run_id)).toEqual([
      ['success', undefined],
      ['success', run.run_id],
      ['success', undefined],
      ['success', next.run_id],
    ])
    expect(await service.collections.threads.countDocuments({ user_id: talk.client.userId })).toBe(3)
    expect(talk.told('the chief').map((text) => JSON.parse(text).answer)).toEqual(['It is so.', 'Still so.'])
  }, 180_000)
})
