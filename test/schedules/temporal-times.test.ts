import { expect, it } from 'vitest'
import { nextTimes } from '../../domain/schedules/next-times.ts'
import { timingOf } from '../../services/schedules/schedule-request.ts'
import { startService } from '../support/service.ts'
import { useStarted } from '../support/use-started.ts'
import { planner } from './support.ts'

const service = useStarted(() => startService({ worker: false, settings: { scheduleMaxDefault: 1000 } }))

const created_at = new Date('2026-01-01T00:00:00Z')
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'America/St_Johns']
const expressions = [
  '30 2 * * *',
  '0,30 1-3 * * *',
  '*/20 * * * *',
  '0 9 31 * *',
  '0 9 29 2 *',
  '15 6 1 * MON',
  '0 12 * * 7',
  '0 12 * * 5-7',
  '0 0 1 JAN,JUL *',
  '59 23 28-31 * *',
  '5 0-23/5 */9 * 1-5/2',
]
const nextYear = new Date().getUTCFullYear() + 1
/** The Saturday before the Sunday with that number in its month, or before the last one. */
function beforeSunday(number: number | 'last', month: number, time: string): string {
  const last = new Date(Date.UTC(nextYear, month, 0))
  const first = 1 + ((7 - new Date(Date.UTC(nextYear, month - 1, 1)).getUTCDay()) % 7)
  const sunday = number === 'last' ? last.getUTCDate() - last.getUTCDay() : first + (number - 1) * 7
  return `${new Date(Date.UTC(nextYear, month - 1, sunday - 1)).toISOString().slice(0, 10)}T${time}:00Z`
}
/** Just before the changes of summer time in these zones, and at the end of a short month. */
const starts = [
  beforeSunday(2, 3, '20:00'),
  beforeSunday('last', 3, '20:00'),
  beforeSunday(1, 4, '13:00'),
  beforeSunday('last', 10, '20:00'),
  beforeSunday(1, 11, '22:00'),
  `${nextYear}-02-27T00:00:00Z`,
]

it('the next five times of an answer are those at which Temporal starts the runs', { timeout: 240_000 }, async () => {
  const { create } = await planner(service)
  let [compared, asked] = [0, 0]
  for (const timezone of zones)
    for (const [index, cron] of expressions.entries()) {
      const start_at = starts[(index + zones.indexOf(timezone)) % starts.length]
      const more = index < 3 ? starts : [start_at]
      for (const start of more) {
        const schedule = await create({ cron, timezone, start_at: start })
        const { info } = await service.temporal.schedule.getHandle(`schedule/${schedule.schedule_id}`).describe()
        const known = info.nextActionTimes.slice(0, 5).map((time) => time.toISOString())
        expect(schedule.next_runs, `${cron} in ${timezone} from ${start}`).toEqual(known)
        const computed = nextTimes({ ...timingOf({ cron, timezone, start_at: start }), created_at }, new Date(), 5)
        if (computed.map((time) => time.toISOString()).join() !== known.join()) asked += 1
        compared += 1
      }
    }
  expect(compared).toBeGreaterThan(100)
  // Only beside an hour that comes twice is the computation not enough.
  expect(asked).toBeGreaterThan(0)
  expect(asked).toBeLessThan(compared / 4)
})

it('a time zone that Temporal does not know is refused, and the schedule is as before', async () => {
  const { client, create, payload } = await planner(service)
  const unknown = 'europe/berlin'
  const asked = () => client.get('/schedules/')
  const refused = { status: 422, body: { detail: [{ loc: ['body', 'timezone'] }] } }
  expect(await client.call('POST', '/schedules/', payload({ cron: '0 8 * * *', timezone: unknown }))).toMatchObject(
    refused,
  )
  expect(await asked()).toMatchObject({ schedules: [] })

  const { schedule_id: id } = await create({ cron: '0 8 * * *', timezone: 'Europe/Berlin', max_runs: 3 })
  const path = `/schedules/${id}`
  const before = await client.get(path)
  const changes = { cron: '0 9 * * *', timezone: unknown, note: 'new', max_runs: null }
  expect(await client.call('PATCH', path, changes)).toMatchObject(refused)
  expect(await client.get(path)).toEqual(before)
  const handle = service.temporal.schedule.getHandle(`schedule/${id}`)
  expect((await handle.describe()).spec.calendars?.[0]?.hour).toMatchObject([{ start: 8 }])
  expect(await client.call('PATCH', path, { cron: '0 9 * * *' })).toMatchObject({ status: 200 })
  expect((await handle.describe()).spec.calendars?.[0]?.hour).toMatchObject([{ start: 9 }])
})
