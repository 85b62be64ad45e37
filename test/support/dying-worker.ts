import { Worker } from '@temporalio/worker'

/**
 * Loaded before the worker (`startDyingWorker`), which then dies (SIGKILL) when its activity number `DIE_AT` has done
 * its work, before Temporal hears of it.
 */
const dieAt = Number(process.env['DIE_AT'])
let count = 0

type Activity = (...input: unknown[]) => Promise<unknown>
const create = Worker.create

Worker.create = function (this: typeof Worker, options) {
  const activities = Object.entries(options.activities ?? {}).map(([name, activity]: [string, Activity]) => [
    name,
    async (...input: unknown[]) => {
      count += 1
      const mine = count
      const result = await activity(...input)
      if (mine === dieAt) process.kill(process.pid, 'SIGKILL')
      return result
    },
  ])
  return create.call(this, { ...options, activities: Object.fromEntries(activities) })
}
