import { describe, expect, it } from 'vitest'
import { failuresBeforePause } from '../../domain/records/schedule.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { insertUser } from '../support/users.ts'
import { backfill, everyTenMinutes, inSeconds, planner } from './support.ts'

describe('a schedule', () => {
  const service = useModelService({ respond: () => ({ text: 'Nothing is new.' }) })

  it('runs its assistant on a new thread when it is due, once', async () => {
    const { client, create, ended } = await planner(service)
    const schedule = await create({ at: inSeconds(5), note: 'The news' })
    expect(schedule).toMatchObject({ runs_made: 0, overlap: 'skip', paused: false, thread_id: null })
    expect(schedule.next_runs).toEqual([schedule.at])

    const [run] = await ended(schedule.schedule_id, 1)
    expect(run).toMatchObject({ status: 'success', triggered: false, due_at: schedule.at, error: null })
    const { output } = await client.get(`/runs/${run.run_id}`)
    expect(output.at(-1).data.content).toBe('Nothing is new.')
    expect(await client.get(`/threads/${run.thread_id}`)).toMatchObject({
      name: 'The news',
      metadata: { schedule_id: schedule.schedule_id },
    })
    expect(await client.get(`/schedules/${schedule.schedule_id}`)).toMatchObject({ runs_made: 1, next_runs: [] })
  })

  it('makes a run for each of its times, on its thread, and no more than it may', async () => {
    const { client, create, ended, runsOf } = await planner(service)
    const { thread_id } = await client.post('/threads/', { name: 'News' })
    const schedule = await create({ cron: everyTenMinutes, thread_id, max_runs: 3 })
    const start = new Date('2026-03-01T10:00:00Z')
    await backfill(service, schedule.schedule_id, start, new Date('2026-03-01T11:00:00Z'))
    const runs = await ended(schedule.schedule_id, 3)
    expect(runs.map((run) => String(run.due_at)).toReversed()).toEqual([
      '2026-03-01T10:00:00.000Z',
      '2026-03-01T10:10:00.000Z',
      '2026-03-01T10:20:00.000Z',
    ])
    expect(new Set(runs.map((run) => run.thread_id))).toEqual(new Set([thread_id]))
    expect((await client.get(`/threads/${thread_id}/state`)).values.messages).toHaveLength(6)
    expect(await runsOf(schedule.schedule_id)).toHaveLength(3)
  })

  it('is started by hand, once for one key, also while it is paused', async () => {
    const { client, create, ended, runsOf } = await planner(service)
    const schedule = await create({ cron: '0 7 * * 1-5', timezone: 'Europe/Berlin', paused: true })
    expect(schedule.next_runs).toEqual([])
    const path = `/schedules/${schedule.schedule_id}/trigger`
    const key = { 'idempotency-key': 'once' }
    const [first, second] = [
      await client.call('POST', path, undefined, key),
      await client.call('POST', path, undefined, key),
    ]
    expect(first.body).toMatchObject({ triggered: true })
    expect(second.body.run_id).toBe(first.body.run_id)
    expect(await ended(schedule.schedule_id, 1)).toMatchObject([{ run_id: first.body.run_id, status: 'success' }])
    expect(await runsOf(schedule.schedule_id)).toHaveLength(1)
    expect(await client.get(`/schedules/${schedule.schedule_id}`)).toMatchObject({ runs_made: 0 })
  })

  it('is changed, paused, continued and deleted, at Temporal too', async () => {
    const { client, create } = await planner(service)
    const schedule = await create({ interval_seconds: 3600 })
    const path = `/schedules/${schedule.schedule_id}`
    const handle = service.temporal.schedule.getHandle(`schedule/${schedule.schedule_id}`)
    expect(schedule.next_runs).toHaveLength(5)
    expect((await handle.describe()).info.nextActionTimes.slice(0, 5).map((time) => time.toISOString())).toEqual(
      schedule.next_runs,
    )
    expect(await client.patch(path, { paused: true, note: 'holidays' })).toMatchObject({ paused: true, next_runs: [] })
    expect((await handle.describe()).state.paused).toBe(true)
    const changed = await client.patch(path, { paused: false, cron: '30 2 * * *', timezone: 'Europe/Berlin' })
    expect(changed).toMatchObject({ interval_seconds: null, cron: '30 2 * * *', timezone: 'Europe/Berlin' })
    const described = await handle.describe()
    expect(described.state.paused).toBe(false)
    expect(described.info.nextActionTimes.slice(0, 5).map((time) => time.toISOString())).toEqual(changed.next_runs)
    expect((await client.get('/schedules/')).schedules).toMatchObject([{ schedule_id: schedule.schedule_id }])

    expect(await client.delete(path)).toEqual({ deleted: true })
    expect(await client.call('GET', path)).toMatchObject({ status: 404 })
    await expect(handle.describe()).rejects.toThrow('not found')
    expect(await service.collections.schedules.countDocuments({ _id: schedule.schedule_id })).toBe(0)
  })

  it.each([
    [{ cron: '60 * * * *' }, 'cron'],
    [{ cron: '0 0 30 2 *' }, 'cron'],
    [{}, 'cron'],
    [{ cron: '0 7 * * *', at: inSeconds(600) }, 'at'],
    [{ cron: '0 7 * * *', timezone: 'Europe/Nowhere' }, 'timezone'],
    [{ at: '2020-01-01T00:00:00Z' }, 'at'],
    [{ interval_seconds: 1 }, 'interval_seconds'],
    [{ cron: '0 7 * * *', start_at: inSeconds(600), end_at: inSeconds(60) }, 'end_at'],
    [{ cron: '0 7 * * *', max_runs: 0 }, 'max_runs'],
    [{ cron: '0 7 * * *', overlap: 'all' }, 'overlap'],
  ])('with %j is refused, and the member is named', async (timing, member) => {
    const { client, payload } = await planner(service)
    const { status, body } = await client.call('POST', '/schedules/', payload(timing))
    expect(status).toBe(422)
    expect(body.detail[0].loc.slice(0, 2)).toEqual(['body', member])
  })

  it("is nobody else's", async () => {
    const { create } = await planner(service)
    const schedule = await create({ cron: '0 7 * * *' })
    const other = await insertUser(service)
    const path = `/schedules/${schedule.schedule_id}`
    for (const [method, where, body] of [
      ['GET', path],
      ['PATCH', path, { paused: true }],
      ['DELETE', path],
      ['POST', `${path}/trigger`],
      ['GET', `${path}/runs`],
    ] as const)
      expect(await other.call(method, where, body), `${method} ${where}`).toMatchObject({ status: 404 })
    expect((await other.get('/schedules/')).schedules).toEqual([])
  })

  it('pauses itself after five failures in a row, and says why', async () => {
    const { client, create, ended } = await planner(service)
    const { thread_id } = await client.post('/threads/', { name: 'Short-lived' })
    const schedule = await create({ cron: everyTenMinutes, thread_id })
    await service.collections.assistants.updateOne({ _id: schedule.assistant_id }, { $set: { suspended: true } })
    await backfill(service, schedule.schedule_id, new Date('2026-03-01T10:00:00Z'), new Date('2026-03-01T12:00:00Z'))
    const runs = await ended(schedule.schedule_id, failuresBeforePause)
    const paused = await eventually('the pause', async () => {
      const now = await client.get(`/schedules/${schedule.schedule_id}`)
      return now.paused && now
    })
    expect(runs.every((run) => run.status !== 'success')).toBe(true)
    expect(paused.pause_reason).toContain(`${failuresBeforePause} failures in a row`)
    expect(paused.next_runs).toEqual([])
    const continued = await client.patch(`/schedules/${schedule.schedule_id}`, { paused: false })
    expect(continued).toMatchObject({ paused: false, pause_reason: null, failures: 0 })
  })

  it('of a suspended user does not run', async () => {
    const { client, create, runsOf } = await planner(service)
    const schedule = await create({ cron: everyTenMinutes })
    await service.collections.users.updateOne({ _id: client.userId }, { $set: { suspended_at: new Date() } })
    await backfill(service, schedule.schedule_id, new Date('2026-03-01T10:00:00Z'), new Date('2026-03-01T10:10:00Z'))
    const handle = service.temporal.schedule.getHandle(`schedule/${schedule.schedule_id}`)
    await eventually('the times were taken', async () => (await handle.describe()).info.numActionsTaken >= 2)
    await eventually('the workflows ended', async () => (await handle.describe()).info.runningActions.length === 0)
    await service.collections.users.updateOne({ _id: client.userId }, { $unset: { suspended_at: 1 } })
    expect(await runsOf(schedule.schedule_id)).toEqual([])
  })

  it('is one of as many as the user may have, also when several are made at once', async () => {
    const { client, payload } = await planner(service)
    const most = service.settings.scheduleMaxDefault
    const answers = await Promise.all(
      Array.from({ length: most + 5 }, () => client.call('POST', '/schedules/', payload({ cron: '0 7 * * *' }))),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(most)
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(5)
  })
})
