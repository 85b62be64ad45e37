import { expect, it } from 'vitest'
import { cronOfWords } from '../../web/src/lib/words-to-cron.ts'
import { watchProcessor } from '../support/slowness.ts'

it.each([
  ['every weekday at 8', '0 8 * * 1-5'],
  ['Weekdays at 8:30', '30 8 * * 1-5'],
  ['every day at 7 pm', '0 19 * * *'],
  ['daily at 7 in the evening', '0 19 * * *'],
  ['every day at 8, 12 and 18', '0 8,12,18 * * *'],
  ['every day at noon', '0 12 * * *'],
  ['every day at 12 am', '0 0 * * *'],
  ['every Monday', '0 8 * * 1'],
  ['Mondays and Thursdays at 9', '0 9 * * 1,4'],
  ['Monday to Friday at 6:15', '15 6 * * 1-5'],
  ['on weekends at 10', '0 10 * * 0,6'],
  ['every 15 minutes', '*/15 * * * *'],
  ['every hour', '0 * * * *'],
  ['every 6 hours', '0 */6 * * *'],
  ['on the 1st of every month at 9', '0 9 1 * *'],
  ['monthly', '0 8 1 * *'],
  ['At 09:00 on day 1 of the month', '0 9 1 * *'],
  ['jeden Werktag um 8', '0 8 * * 1-5'],
  ['täglich um 18:45 Uhr', '45 18 * * *'],
  ['montags und freitags um 9 Uhr', '0 9 * * 1,5'],
  ['Montag bis Donnerstag um 7.30 Uhr', '30 7 * * 1-4'],
  ['jeden Tag um 7 abends', '0 19 * * *'],
  ['alle 10 Minuten', '*/10 * * * *'],
  ['stündlich', '0 * * * *'],
  ['am 15. jedes Monats um 6', '0 6 15 * *'],
])('reads “%s” as %s', (words, cron) => {
  expect(cronOfWords(words)).toBe(cron)
})

it.each([
  '',
  'at 8',
  'every other day at 8',
  'every second tuesday at 8',
  'every 7 minutes',
  'every day at 25',
  'every day at 8:75',
  'every day at 8:15 and 9:30',
  'every day and on the 1st of every month',
  'on the 42nd of every month',
  'every day except sunday at 8',
  'the last day of every month',
  'every day at 13 pm',
  'Friday to Monday',
])('does not guess what “%s” means', (words) => {
  expect(cronOfWords(words)).toBeUndefined()
})

it('reads long texts at once', () => {
  const took = watchProcessor()
  cronOfWords('every monday and '.repeat(100_000))
  cronOfWords('8 '.repeat(100_000))
  expect(took()).toBeLessThan(500)
})
