import { describe, expect, it } from 'vitest'
import { scheduleRunContract } from '../../domain/contracts/schedule-run.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { startApiProcess, startDyingWorker, startWorkerProcess } from '../support/processes.ts'
import { inSeconds, planner } from './support.ts'

describe('kill -9 in the minute of a run', () => {
  const service = useModelService({
    worker: false,
    respond: () => ({ text: 'Nothing is new.' }),
    env: { WORKER_QUEUES: 'runs,schedules', RUN_MAX_MINUTES: '5' },
  })

  it('of the worker at every step makes neither two runs nor none', async () => {
    const { client, create, runsOf } = await planner(service)
    const schedule = await create({ at: inSeconds(5) })
    const nominal = String(schedule.at).replace('.000Z', 'Z')
    const workflowId = `${scheduleRunContract.id({ scheduleId: schedule.schedule_id })}-${nominal}`
    let isOver = false
    let deaths = 0
    const over = (async () => {
      const handle = service.temporal.workflow.getHandle(workflowId)
      while (!isOver) {
        isOver = await handle.result().then(
          () => true,
          () => false,
        )
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    })()
    while (!isOver) {
      // The first life ends with its first step; each later one repeats the step that was lost and ends with the next.
      const worker = await startDyingWorker(service.env, deaths === 0 ? 1 : 2)
      await Promise.race([worker.exited, over])
      if (!isOver) deaths += 1
      await worker.kill()
    }
    expect(deaths).toBeGreaterThanOrEqual(2)
    const runs = await runsOf(schedule.schedule_id)
    expect(runs).toMatchObject([{ status: 'success', due_at: schedule.at }])
    expect(await service.collections.runs.countDocuments({ user_id: client.userId })).toBe(1)
    expect(await client.get(`/schedules/${schedule.schedule_id}`)).toMatchObject({ runs_made: 1 })
    expect((await client.get(`/threads/${runs[0].thread_id}/state`)).values.messages).toHaveLength(2)
  }, 180_000)

  it('of the API between the record and Temporal is made good by a worker', async () => {
    const { client, create, ended } = await planner(service)
    const schedule = await create({ cron: '0 7 * * *' })
    const handle = service.temporal.schedule.getHandle(`schedule/${schedule.schedule_id}`)
    // What a process that died leaves: a newer record of which Temporal does not know, and no schedule at all.
    await service.collections.schedules.updateOne(
      { _id: schedule.schedule_id },
      {
        $set: { at: new Date(inSeconds(25)), timezone: 'UTC', check_at: new Date() },
        $unset: { cron: 1 },
        $inc: { revision: 1 },
      },
    )
    await handle.delete()
    const worker = await startWorkerProcess(service.env)
    expect(await ended(schedule.schedule_id, 1, 60_000)).toMatchObject([{ status: 'success' }])
    // A deletion that was cut off.
    await service.collections.schedules.updateOne(
      { _id: schedule.schedule_id },
      { $set: { deleting: true, check_at: new Date() } },
    )
    await expect
      .poll(() => service.collections.scheduleRuns.countDocuments({ user_id: client.userId }), { timeout: 60_000 })
      .toBe(0)
    await expect.poll(() => service.collections.schedules.countDocuments(), { timeout: 60_000 }).toBe(1)
    await expect(handle.describe()).rejects.toThrow('not found')
    await worker.stop()
  }, 180_000)

  it('of the API while it starts a run by hand leaves one run for one key', async () => {
    const { client, create, runsOf, ended } = await planner(service)
    const worker = await startWorkerProcess(service.env)
    const schedule = await create({ cron: '0 7 * * *', paused: true })
    const path = `/schedules/${schedule.schedule_id}/trigger`
    const { idempotencyKeys, runs, scheduleRuns } = service.collections
    const own = { user_id: client.userId }
    // It dies when it has noted the run, and when it has started it: the answer never comes.
    const moments = [() => scheduleRuns.countDocuments(own), () => runs.countDocuments(own)]
    for (const [index, happened] of moments.entries()) {
      const api = await startApiProcess(service.env)
      const key = { 'idempotency-key': `key-${index}` }
      const answer = apiClient(api.url, client.token)
        .call('POST', path, undefined, key)
        .catch(() => undefined)
      await eventually('it has begun', async () => (await happened()) > index)
      await api.kill()
      await answer
      // The key is held for the dead process until its lease is over, and the run is followed by a worker when its is.
      await idempotencyKeys.updateMany({}, { $set: { leased_until: new Date(0) } })
      const second = await eventually(
        'an answer to the repeated request',
        async () => {
          const repeated = await client.call('POST', path, undefined, key)
          return repeated.status !== 409 && repeated
        },
        90_000,
      )
      expect(second).toMatchObject({ status: 200, body: { triggered: true } })
      await scheduleRuns.updateMany({ ...own, check_at: { $exists: true } }, { $set: { check_at: new Date() } })
      await ended(schedule.schedule_id, index + 1, 90_000)
      expect(await runs.countDocuments(own)).toBe(index + 1)
    }
    expect((await runsOf(schedule.schedule_id)).map(({ status }) => status)).toEqual(['success', 'success'])
    await worker.stop()
  }, 180_000)
})
