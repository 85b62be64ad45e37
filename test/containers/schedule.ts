import { setTimeout as pause } from 'node:timers/promises'
import { isJsonObject } from '../../domain/json.ts'
import type { Caller } from '../../faults/caller.ts'
import { listIn } from '../../faults/list-in.ts'
import type { SimulatedUser } from '../../faults/load.ts'

const intervalMs = 60_000
const limitMs = 180_000

/** Makes a schedule for each minute; in the end each minute must have had one run, which answered. */
export async function watchSchedule(caller: Caller, { user, assistant }: SimulatedUser) {
  const { token } = user
  const body = {
    assistant_id: assistant.id,
    input: [{ type: 'human', content: '[i900000x] say 5' }],
    interval_seconds: intervalMs / 1000,
    // A run that is late must not keep the next one from its turn.
    overlap: 'buffer_one',
  }
  const made = await caller.call('POST', '/schedules/', { token, body, key: 'the-schedule' })
  const path = `/schedules/${String(made.body['schedule_id'])}`
  if (made.status !== 200) throw new Error(`the schedule was answered ${made.status}: ${JSON.stringify(made.body)}`)
  const runs = async () =>
    listIn((await caller.call('GET', `${path}/runs?limit=1000`, { token })).body['runs']).filter(isJsonObject)

  return {
    async end(): Promise<{ runs: number; problems: string[] }> {
      await caller.call('PATCH', path, { token, body: { paused: true } })
      const pausedAt = Date.now()
      let seen = await runs()
      for (
        const deadline = Date.now() + limitMs;
        seen.some((run) => run['finished_at'] === null) && Date.now() < deadline;
        seen = await runs()
      )
        await pause(1_000)
      return { runs: seen.length, problems: problemsOf(seen, pausedAt) }
    },
  }
}

function problemsOf(runs: Record<string, unknown>[], pausedAt: number): string[] {
  const due = runs.map((run) => Date.parse(String(run['due_at']))).toSorted((a, b) => a - b)
  const problems = runs
    .filter((run) => run['status'] !== 'success')
    .map((run) => `the scheduled run of ${String(run['due_at'])} is ${String(run['status'])}`)
  for (const [index, at] of due.entries()) {
    const previous = due[index - 1]
    if (previous === at) problems.push(`two scheduled runs of ${new Date(at).toISOString()}`)
    else if (previous !== undefined && at - previous > intervalMs)
      problems.push(`no scheduled run between ${new Date(previous).toISOString()} and ${new Date(at).toISOString()}`)
  }
  // The last minute may have come just before the pause.
  if (due.length === 0 || pausedAt - (due.at(-1) ?? 0) > 2 * intervalMs)
    problems.push(`the last of ${due.length} scheduled runs is from ${new Date(due.at(-1) ?? 0).toISOString()}`)
  return problems
}
