import { describe, expect, it } from 'vitest'
import { historyText, recordHistory } from '../support/histories.ts'
import { useModelService } from '../support/model-service.ts'
import { backfill, everyTenMinutes, planner } from './support.ts'

describe('the history of a run of a schedule', () => {
  const service = useModelService({ respond: () => ({ text: 'ANSWERTEXT' }) })

  it('contains ids and states, and no message text', async () => {
    const { create, ended } = await planner(service)
    const schedule = await create({ cron: everyTenMinutes, note: 'NOTETEXT' })
    const time = new Date('2026-03-01T10:00:00Z')
    await backfill(service, schedule.schedule_id, time, time)
    await ended(schedule.schedule_id, 1)
    const handle = service.temporal.workflow.getHandle(`schedule-run/${schedule.schedule_id}-2026-03-01T10:00:00Z`)
    expect(await handle.result()).toBe('finished')
    const history = await handle.fetchHistory()
    for (const secret of ['ANSWERTEXT', 'NOTETEXT', 'What is new?']) expect(historyText(history)).not.toContain(secret)
    await recordHistory('schedule-run', history)

    const paused = await create({ cron: everyTenMinutes, paused: true })
    await backfill(service, paused.schedule_id, time, time)
    const none = service.temporal.workflow.getHandle(`schedule-run/${paused.schedule_id}-2026-03-01T10:00:00Z`)
    await expect.poll(() => none.result().catch(() => 'not yet'), { timeout: 20_000 }).toBe('paused')
    await recordHistory('schedule-run-paused', await none.fetchHistory())
  })
})
