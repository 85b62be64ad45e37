import { describe, expect, it } from 'vitest'
import { conversation } from '../runs/support.ts'
import { eventually } from '../support/eventually.ts'
import { inForm } from '../support/long-form.ts'
import { useModelService } from '../support/model-service.ts'
import { inSeconds, planner } from './support.ts'

/** How many schedules are due in the same moment. */
const count = inForm({ long: 1000, short: 100 })

describe('many schedules that are due in the same moment', () => {
  const service = useModelService({
    settings: { scheduleMaxDefault: 100_000 },
    respond: () => ({ text: 'Nothing is new.' }),
  })

  it('all run once, spread by their jitter, and nobody else waits for them', { timeout: 3_600_000 }, async () => {
    const { client, assistantId, create } = await planner(service)
    await service.collections.users.updateOne({ _id: client.userId }, { $set: { thread_max: 100_000 } })
    const at = inSeconds(20 + count / 8)
    for (let made = 0; made < count; made += 20)
      await Promise.all(Array.from({ length: 20 }, () => create({ at, jitter_seconds: 20 })))
    // Another user's only schedule, due in the middle of them.
    const neighbour = await planner(service)
    const single = await neighbour.create({ at: new Date(Date.parse(at) + 5000).toISOString() })
    expect(new Date(at).getTime(), 'all were made in time').toBeGreaterThan(Date.now())

    const { runs, scheduleRuns } = service.collections
    const ended = () => scheduleRuns.countDocuments({ assistant_id: assistantId, finished_at: { $exists: true } })
    const other = await conversation(service)
    await eventually('the first ones', async () => (await ended()) > count / 10, 300_000)
    const answered = await other.stream('Hello?')
    expect(answered.end).toBe('end')
    expect(await ended(), 'runs of schedules that had ended before the other was answered').toBeLessThan(count)

    const endedBefore = await eventually(
      'the run of the other user',
      async () => {
        const done = await ended()
        const [run] = await neighbour.runsOf(single.schedule_id)
        return typeof run?.finished_at === 'string' && done
      },
      300_000,
    )
    expect(endedBefore, "runs that had ended before another user's").toBeLessThan(count)

    const begun = Date.now()
    await eventually('all of them', async () => (await ended()) === count, 600_000)
    expect(await scheduleRuns.countDocuments({ assistant_id: assistantId, outcome: 'success' })).toBe(count)
    expect(await runs.countDocuments({ assistant_id: assistantId, status: 'success' })).toBe(count)
    const [first] = await runs.find({ assistant_id: assistantId }).sort({ created_at: 1 }).limit(1).lean()
    const [last] = await runs.find({ assistant_id: assistantId }).sort({ created_at: -1 }).limit(1).lean()
    const span = Number(last?.created_at) - Number(first?.created_at)
    expect(span, 'milliseconds between the first and the last start').toBeGreaterThan(5_000)
    process.stdout.write(`${count} schedules: started within ${span} ms, the rest took ${Date.now() - begun} ms\n`)
  })
})
