import { describe, expect, it } from 'vitest'
import { nextTimes, problemOfCron } from '../../domain/schedules/next-times.ts'

const created_at = new Date('2026-01-01T00:00:00Z')
const times = (cron: string, timezone: string, after: string, count = 5) =>
  nextTimes({ cron, timezone, created_at }, new Date(after), count).map((time) => time.toISOString().slice(0, 16))

describe('the next times of a schedule', () => {
  it('leave out what summer time skips, and come once when the clocks go back', () => {
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-03-27T12:00:00Z', 3)).toEqual([
      '2026-03-28T01:30',
      '2026-03-30T00:30',
      '2026-03-31T00:30',
    ])
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 3)).toEqual([
      '2026-10-25T01:30',
      '2026-10-26T01:30',
      '2026-10-27T01:30',
    ])
    expect(times('30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 2)).toEqual([
      '2026-11-01T05:30',
      '2026-11-02T06:30',
    ])
  })

  it('keep to the months that have the day, and to both fields of days at once', () => {
    expect(times('0 9 31 * *', 'UTC', '2026-01-31T10:00:00Z', 3)).toEqual([
      '2026-03-31T09:00',
      '2026-05-31T09:00',
      '2026-07-31T09:00',
    ])
    expect(times('0 9 29 2 *', 'UTC', '2026-01-01T00:00:00Z', 2)).toEqual(['2028-02-29T09:00', '2032-02-29T09:00'])
    expect(times('0 9 13 * FRI', 'UTC', '2026-01-01T00:00:00Z', 2)).toEqual(['2026-02-13T09:00', '2026-03-13T09:00'])
  })

  it('of intervals are counted from the start, and end at the end', () => {
    const timing = { interval_seconds: 3600, timezone: 'UTC', created_at: new Date('2026-01-01T00:10:00Z') }
    const after = new Date('2026-01-01T02:10:00Z')
    expect(nextTimes(timing, after, 2).map((time) => time.toISOString())).toEqual([
      '2026-01-01T03:10:00.000Z',
      '2026-01-01T04:10:00.000Z',
    ])
    expect(nextTimes({ ...timing, end_at: new Date('2026-01-01T03:30:00Z') }, after, 5)).toHaveLength(1)
    const started = { ...timing, start_at: new Date('2026-01-02T00:00:00Z') }
    expect(nextTimes(started, after, 1).map((time) => time.toISOString())).toEqual(['2026-01-02T00:00:00.000Z'])
  })

  it.each([
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 13 *',
    '* * * * 8',
    '* * 30 2 *',
    '*/0 * * * *',
    '5-1 * * * *',
    '@daily',
    '* * L * *',
    '* * * * MON#1',
    '* * ? * *',
    'a * * * *',
    '* * * FOO *',
    '* *  * * *',
    'TZ=UTC * * * *',
    '1-2-3 * * * *',
    '*-5 * * * *',
  ])('are refused of %s', (expression) => {
    expect(problemOfCron(expression)).toBeTypeOf('string')
  })

  it.each(['0 7 * * 1-5', '*/15 8-18 * * MON-FRI', '0 0 1 JAN,JUL *', '0 12 * * 7', '0 12 * * 5-7'])(
    'are known of %s',
    (expression) => {
      expect(problemOfCron(expression)).toBeUndefined()
    },
  )
})
