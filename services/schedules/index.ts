import { type NextRunsDeps, createNextRuns } from './next-runs.ts'
import { createScheduleReads } from './read-schedules.ts'
import { type ScheduleWritesDeps, createScheduleWrites } from './write-schedules.ts'

/** Schedules as their owners see them. Another user's schedule is answered like a missing one: `not_found`. */
export function createSchedules(deps: ScheduleWritesDeps & NextRunsDeps) {
  const reads = createScheduleReads(deps.collections)
  return { ...reads, ...createScheduleWrites(deps, reads), ...createNextRuns(deps) }
}
