import type { DueRun, RunInspection } from '../../domain/contracts/schedule-run.ts'
import { cutText } from '../../domain/cut-text.ts'
import { type RunError, isOpenRun } from '../../domain/records/run.ts'
import {
  type ScheduleRunRecord,
  type ScheduleRunStatus,
  failuresBeforePause,
  scheduleRunKey,
} from '../../domain/records/schedule.ts'
import { nextTimes } from '../../domain/schedules/next-times.ts'
import type { Collections } from '../collections.ts'
import type { Runs } from '../runs/index.ts'
import { type ListedRun, runStore } from '../stores/runs.ts'
import { scheduleRunStore, scheduleStore } from '../stores/schedules.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { SyncSchedule } from './sync.ts'

interface FinishRunDeps {
  collections: Pick<Collections, 'schedules' | 'scheduleRuns' | 'runs'>
  transaction: RunInTransaction
  runs: Pick<Runs, 'cancel' | 'expire'>
  sync: SyncSchedule
  onError(error: unknown): void
}

type Ending = Pick<ScheduleRunRecord, 'outcome' | 'error'>

export const keyOf = ({ scheduleId, dueAt, triggeredRunId }: DueRun) =>
  scheduleRunKey(scheduleId, triggeredRunId ?? new Date(dueAt))

/** What follows the start of a schedule's run. */
export function createFinishRun({ collections, transaction, runs, sync, onError }: FinishRunDeps) {
  const schedules = scheduleStore(collections)
  const scheduleRuns = scheduleRunStore(collections)
  const started = runStore(collections)

  const read = (due: DueRun) => scheduleRuns.findOfAny(keyOf(due))
  const keyOfRun = ({ run_id: _id, thread_id }: ScheduleRunRecord) => ({ _id, thread_id })
  const runOf = (scheduled: ScheduleRunRecord) => started.findListedInThread(keyOfRun(scheduled))

  return {
    async inspect(due: DueRun): Promise<RunInspection> {
      const scheduled = await read(due)
      const run = scheduled && (await runOf(scheduled))
      if (!scheduled || !run || !isOpenRun(run)) return { state: 'ended' }
      if (run.status !== 'interrupted') return { state: 'open' }
      return { state: (await waitsTooLong(scheduled, run)) && (await expire(run)) ? 'ended' : 'waits' }
    },

    /**
     * Cancels the run, because the next one takes its place or an operator ended its workflow. One that has waited until
     * then has failed.
     */
    async cancel(due: DueRun): Promise<void> {
      const scheduled = await read(due)
      const run = scheduled && (await started.findInThread(keyOfRun(scheduled)))
      if (!scheduled || !run) return
      if (run.status === 'interrupted' && (await isDueAgain(scheduled)) && (await expire(run))) return
      await runs.cancel(run)
    },

    /** Notes that the run was not started, although it was tried for an hour. */
    async giveUp(due: DueRun): Promise<void> {
      const scheduled = await read(due)
      if (scheduled === null || (await runOf(scheduled)) !== null) return
      await scheduleRuns.refuse(scheduled, {
        status_code: 503,
        type: 'unavailable',
        message: 'The run could not be started.',
      })
    },

    /**
     * Stores how the run ended. The fifth failure in a row pauses its schedule and says why. Safe to repeat. Returns
     * whether its owner is told by mail: of refusals, of which there may be one a minute, once a day.
     */
    async finish(due: DueRun): Promise<{ mail: boolean }> {
      const scheduled = await read(due)
      if (scheduled === null) return { mail: false }
      const ending = await endingOf(scheduled)
      const now = new Date()
      const paused = await transaction(async (session) => {
        if (!(await scheduleRuns.finish(scheduled, { ...ending, finished_at: now }, session))) return false
        const verdict = verdictOf(ending)
        if (verdict === 'none') return false
        const reason = `Paused after ${failuresBeforePause} failures in a row. The last one: ${ending.error?.message ?? 'the run failed.'}`
        return schedules.countEndOfAny(scheduled.schedule_id, verdict, cutText(reason, 1000), session)
      })
      // If this fails, the sweep does it; the record is paused already.
      if (paused) await sync(scheduled.schedule_id).catch(onError)
      return { mail: await isMailed(scheduled, ending, now) }
    },
  }

  /** Ends a run that waits for a person with an error, which counts as a failure. False if it waits no more. */
  async function expire(run: ListedRun): Promise<boolean> {
    return (await runs.expire(run, waitedTooLong)) !== null
  }

  /** Whether a run waits for longer than its schedule's period: the schedule would stand still. */
  async function waitsTooLong(scheduled: ScheduleRunRecord, run: ListedRun): Promise<boolean> {
    const [first, second] = await timesAround(scheduled)
    if (first === undefined || second === undefined) return false
    const waitedMs = Date.now() - (run.waiting_since ?? run.created_at).getTime()
    return waitedMs >= second.getTime() - first.getTime()
  }

  async function isDueAgain(scheduled: ScheduleRunRecord): Promise<boolean> {
    const [, next] = await timesAround(scheduled)
    return next !== undefined && next.getTime() <= Date.now()
  }

  /** The time of a run and the next one; of a triggered run, the next two. Fewer if there are no more. */
  async function timesAround({ schedule_id: id, due_at: due, triggered }: ScheduleRunRecord): Promise<Date[]> {
    const schedule = await schedules.findOfAny(id)
    if (schedule === null) return []
    return triggered ? nextTimes(schedule, due, 2) : [due, ...nextTimes(schedule, due, 1)]
  }

  async function isMailed({ _id, schedule_id: id }: ScheduleRunRecord, { outcome }: Ending, now: Date) {
    return outcome === 'refused' ? schedules.noteRefusalMailOfAny(id, _id, now) : schedules.mailsResultOfAny(id)
  }

  async function endingOf(scheduled: ScheduleRunRecord): Promise<Ending & { outcome: ScheduleRunStatus }> {
    if (scheduled.outcome !== undefined)
      return { outcome: scheduled.outcome, ...(scheduled.error === undefined ? {} : { error: scheduled.error }) }
    const run = await runOf(scheduled)
    if (run === null) return { outcome: 'gone' }
    if (run.error === undefined) return { outcome: run.status }
    const { status_code, type, message } = run.error
    return { outcome: run.status, error: { status_code, type, message } }
  }
}

const waitedTooLong: RunError = {
  status_code: 504,
  message: 'The run waited for a decision for longer than the period of its schedule.',
  type: 'expired',
  details: '',
}

/** A cancelled run says nothing, and neither does one that a budget refused: it ends by itself. */
function verdictOf({ outcome, error }: Ending): 'failed' | 'succeeded' | 'none' {
  if (outcome === 'success') return 'succeeded'
  if (outcome === 'error') return 'failed'
  if (outcome !== 'refused') return 'none'
  return error?.status_code === 402 || error?.status_code === 429 ? 'none' : 'failed'
}
