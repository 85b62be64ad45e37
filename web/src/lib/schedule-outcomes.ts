import type { Schemas } from '../../../client/src/index.ts'

/** A result of a schedule that the user has not seen yet. Only ids are kept: they stay after the session. */
export interface News {
  schedule_id: string
  run_id: string
  /** A run that was refused has none. */
  thread_id?: string
  outcome: 'answered' | 'waits' | 'failed'
  finished_at: string
}

/**
 * What of a schedule's runs (newest first) is news, when `fresh` of those that were due came since the last look, and
 * how many of them are still under way. Runs that a person started are none: he looks himself.
 */
export function newsOf(runs: Schemas['ScheduleRun'][], fresh: number): { found: News[]; open: number } {
  const found: News[] = []
  let open = 0
  for (const run of runs.filter(({ triggered }) => !triggered).slice(0, fresh)) {
    const outcome = outcomes[run.status]
    if (outcome === 'open') open += 1
    else if (outcome !== 'none')
      found.push({
        schedule_id: run.schedule_id,
        run_id: run.run_id,
        ...(run.status !== 'refused' && { thread_id: run.thread_id }),
        outcome,
        finished_at: run.finished_at ?? run.due_at,
      })
  }
  return { found, open }
}

const outcomes: Record<Schemas['ScheduleRunStatus'], News['outcome'] | 'open' | 'none'> = {
  pending: 'open',
  running: 'open',
  interrupted: 'waits',
  success: 'answered',
  error: 'failed',
  refused: 'failed',
  cancelled: 'none',
  gone: 'none',
}
