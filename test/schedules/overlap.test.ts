import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { everyTenMinutes, planner } from './support.ts'

describe('runs that are due while one is under way', () => {
  const service = useModelService({ respond: () => ({ text: 'Later' }) })

  /** A schedule with one run under way, for which more times come. `release` lets the run end. */
  async function crowded(overlap: string) {
    const plan = await planner(service)
    const gate = Promise.withResolvers<void>()
    const first = service.model.reply({ text: ['Slow ', gate.promise, 'answer'] })
    const schedule = await plan.create({ cron: everyTenMinutes, overlap })
    const handle = service.temporal.schedule.getHandle(`schedule/${schedule.schedule_id}`)
    // As after an outage: with the policy of the schedule.
    const due = (from: string, to: string) => handle.backfill({ start: new Date(from), end: new Date(to) })
    await due('2026-03-01T10:00:00Z', '2026-03-01T10:00:00Z')
    await first.arrived
    return { ...plan, schedule, handle, due, release: gate.resolve }
  }

  /** What an outage of an hour leaves: Temporal takes its times at once, by the policy. */
  const anHour = (due: Awaited<ReturnType<typeof crowded>>['due']) =>
    due('2026-03-01T10:10:00Z', '2026-03-01T11:00:00Z')

  it('are left out with `skip`', async () => {
    const { schedule, due, handle, release, ended } = await crowded('skip')
    await anHour(due)
    await eventually('they were skipped', async () => (await handle.describe()).info.numActionsSkippedOverlap === 6)
    release()
    expect(await ended(schedule.schedule_id, 1)).toMatchObject([
      { due_at: '2026-03-01T10:00:00.000Z', status: 'success' },
    ])
  })

  it('wait with `buffer_one`, but only one of them', async () => {
    const { schedule, due, handle, release, ended } = await crowded('buffer_one')
    await anHour(due)
    await eventually(
      'the others were skipped',
      async () => (await handle.describe()).info.numActionsSkippedOverlap === 5,
    )
    release()
    const runs = await ended(schedule.schedule_id, 2)
    expect(runs.map(({ status }) => status)).toEqual(['success', 'success'])
    expect((await handle.describe()).info.numActionsTaken).toBe(2)
  })

  it('take the place of the one under way with `cancel_other`, of which the last remains', async () => {
    const { schedule, due, runsOf } = await crowded('cancel_other')
    await anHour(due)
    const last = await eventually('the last one', async () => {
      const runs = await runsOf(schedule.schedule_id)
      const isOver = runs.every((run) => run.finished_at !== null)
      return (
        isOver &&
        runs.some(({ due_at, status }) => due_at === '2026-03-01T11:00:00.000Z' && status === 'success') &&
        runs
      )
    })
    const others = last.filter(({ due_at }) => due_at !== '2026-03-01T11:00:00.000Z')
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 'cancelled'))
    expect(others.map(({ due_at }) => due_at)).toContain('2026-03-01T10:00:00.000Z')
  })
})
