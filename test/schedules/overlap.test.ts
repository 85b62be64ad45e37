import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { planner } from './support.ts'

describe('runs that are due while one is under way', () => {
  const service = useModelService()

  /** A schedule with one run under way, for which two more times come. `let` lets the run end. */
  async function crowded(overlap: string) {
    const plan = await planner(service)
    const gate = Promise.withResolvers<void>()
    const first = service.model.reply({ text: ['Slow ', gate.promise, 'answer'] })
    const schedule = await plan.create({ cron: '*/10 * * * *', overlap })
    const handle = service.temporal.schedule.getHandle(`schedule/${schedule.schedule_id}`)
    // As after an outage: with the policy of the schedule.
    const due = (from: string, to: string) => handle.backfill({ start: new Date(from), end: new Date(to) })
    await due('2026-03-01T10:00:00Z', '2026-03-01T10:00:00Z')
    await first.arrived
    return { ...plan, schedule, handle, due, release: gate.resolve }
  }

  it('are left out with `skip`', async () => {
    const { schedule, due, handle, release, ended } = await crowded('skip')
    await due('2026-03-01T10:10:00Z', '2026-03-01T10:20:00Z')
    await eventually('they were skipped', async () => (await handle.describe()).info.numActionsSkippedOverlap >= 2)
    release()
    expect(await ended(schedule.schedule_id, 1)).toMatchObject([
      { due_at: '2026-03-01T10:00:00.000Z', status: 'success' },
    ])
  })

  it('wait with `buffer_one`, but only one of them', async () => {
    const { schedule, due, handle, release, ended } = await crowded('buffer_one')
    await due('2026-03-01T10:10:00Z', '2026-03-01T10:20:00Z')
    await eventually('one was skipped', async () => (await handle.describe()).info.numActionsSkippedOverlap >= 1)
    service.model.reply({ text: 'Second' })
    release()
    const runs = await ended(schedule.schedule_id, 2)
    expect(runs.map(({ status }) => status)).toEqual(['success', 'success'])
  })

  it('take the place of the one under way with `cancel_other`', async () => {
    const { schedule, due, ended } = await crowded('cancel_other')
    service.model.reply({ text: 'Second' })
    await due('2026-03-01T10:10:00Z', '2026-03-01T10:10:00Z')
    const runs = await ended(schedule.schedule_id, 2)
    expect(runs.map(({ due_at, status }) => [due_at, status])).toEqual([
      ['2026-03-01T10:10:00.000Z', 'success'],
      ['2026-03-01T10:00:00.000Z', 'cancelled'],
    ])
  })
})
