import { setTimeout as pause } from 'node:timers/promises'
import { mongo } from 'mongoose'
import type { ScheduleRunRecord } from '../domain/records/schedule.ts'
import { createClient } from './client.ts'
import type { BenchContext } from './environment.ts'
import { drive } from './load.ts'
import { bearer, newTalk, streamRun } from './runs/talks.ts'
import { quantile, table } from './statistics.ts'

const count = Number(process.env['BENCH_SCHEDULES'] || 500)
const atOnce = 8
/** How long making one takes at most, so that all are made before the first is due. */
const makingMs = 100

/**
 * How many schedules a second are made, and how many of those that are due in the same moment are run; beside a
 * bystander.
 */
export async function benchSchedules(context: BenchContext): Promise<void> {
  const client = createClient(context.url)
  const [planner, bystander] = [await newTalk(context, client), await newTalk(context, client)]
  for (let warm = 0; warm < 10; warm++) await streamRun(client, bystander)
  const idle = await drive(() => streamRun(client, bystander), { atOnce: 1, ms: 5000 })

  const at = new Date(Date.now() + 10_000 + count * makingMs)
  const headers = bearer(planner.token)
  const body = {
    assistant_id: planner.assistantId,
    input: [{ type: 'human', content: 'Say something.' }],
    at: at.toISOString(),
  }
  const made = await drive(() => client.send('/schedules/', { method: 'POST', headers, body }), {
    atOnce,
    ms: Number.POSITIVE_INFINITY,
    count,
  })
  if (made.failed > 0) throw new Error(`${made.failed} schedules could not be made. The first: ${made.failure}`)
  if (Date.now() > at.getTime()) throw new Error('Making the schedules took longer than until they were due.')
  await pause(at.getTime() - Date.now())

  const database = new mongo.MongoClient(context.env['MONGODB_URI'] ?? '')
  try {
    const runs = database.db().collection<ScheduleRunRecord>('schedule_runs')
    const ended = () => runs.countDocuments({ finished_at: { $exists: true } })
    let isOver = false
    const busy = drive(() => (isOver ? Promise.reject(new Error('over')) : streamRun(client, bystander)), {
      atOnce: 1,
      ms: 5000,
    })
    while ((await ended()) < count) await pause(200)
    isOver = true
    const [first] = await runs.find().sort({ created_at: 1 }).limit(1).toArray()
    const [last] = await runs.find().sort({ finished_at: -1 }).limit(1).toArray()
    const seconds = (Number(last?.finished_at) - Number(first?.created_at)) / 1000
    const successes = await runs.countDocuments({ outcome: 'success' })
    const { first: beside } = await busy
    context.log(`\n### ${count} schedules that are due in the same second\n`)
    context.log(
      table(
        ['', ''],
        [
          ['made, a second', made.perSecond.toFixed(1)],
          ['run to the end, a second', (count / seconds).toFixed(1)],
          ['succeeded', String(successes)],
          ['first words of a bystander before, median (ms)', quantile(idle.first, 0.5).toFixed(0)],
          ['first words of a bystander meanwhile, median (ms)', quantile(beside, 0.5).toFixed(0)],
        ],
      ),
    )
  } finally {
    await database.close()
    await client.close()
  }
}
