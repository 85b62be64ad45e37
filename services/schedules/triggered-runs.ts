import { scheduleRunContract } from '../../domain/contracts/schedule-run.ts'
import { AppError } from '../../domain/errors.ts'
import { type ScheduleRecord, type ScheduleRunRecord, whichOf } from '../../domain/records/schedule.ts'
import type { Collections } from '../collections.ts'
import type { Page, PageRange } from '../page.ts'
import { type ListedRun, runStore } from '../stores/runs.ts'
import { scheduleRunStore, scheduleStore } from '../stores/schedules.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { keyOf } from './finish-run.ts'
import { type ScheduleReads, missing } from './read-schedules.ts'
import type { createStartDueRun } from './start-due-run.ts'

interface ScheduleRunsDeps {
  collections: Pick<Collections, 'schedules' | 'scheduleRuns' | 'runs'>
  workflows: Pick<WorkflowClient, 'start'>
  startDueRun: ReturnType<typeof createStartDueRun>
}

/** A run of a schedule together with the run that it started, if that still exists. */
export interface ListedScheduleRun {
  scheduled: ScheduleRunRecord
  run: ListedRun | undefined
}

/** The runs of schedules: those that their owners trigger, and the list of all. */
export function createScheduleRuns(deps: ScheduleRunsDeps, { get }: Pick<ScheduleReads, 'get'>) {
  const scheduleRuns = scheduleRunStore(deps.collections)
  const runs = runStore(deps.collections)

  return {
    /**
     * Starts a run now, whatever the timetable, the overlap policy and `paused` say; it does not count as one of
     * `max_runs`. Throws what the start of a run throws.
     */
    async trigger(userId: string, scheduleId: string, runId: string): Promise<ListedScheduleRun> {
      const schedule = await get(userId, scheduleId)
      const due = { scheduleId, dueAt: new Date().toISOString(), triggeredRunId: runId }
      const started = await deps.startDueRun(due)
      if (started.next === 'none') throw new AppError('not_found', 'There is no such schedule any more.')
      await follow(schedule, runId)
      const scheduled = await scheduleRuns.findOfAny(keyOf(due))
      if (scheduled === null) throw missing()
      return withRun(scheduled)
    },

    /** A run that its owner triggered; for a repeated request. */
    async triggered(userId: string, scheduleId: string, runId: string): Promise<ListedScheduleRun | null> {
      const key = keyOf({ scheduleId, dueAt: '', triggeredRunId: runId })
      const scheduled = await scheduleRuns.findOwned(userId, key)
      return scheduled && withRun(scheduled)
    },

    /**
     * Starts the workflow that follows a triggered run, unless it runs or the run has ended. The record's key names the
     * workflow: the run itself may have another id by now.
     */
    async followAgain(runKey: string): Promise<void> {
      const scheduled = await scheduleRuns.findOfAny(runKey)
      const schedule = scheduled && (await scheduleStore(deps.collections).findOfAny(scheduled.schedule_id))
      if (scheduled === null || scheduled.finished_at !== undefined || !schedule) return
      await follow(schedule, whichOf(scheduled))
    },

    /** Newest first. */
    async runs(userId: string, scheduleId: string, range: PageRange): Promise<Page<ListedScheduleRun>> {
      await get(userId, scheduleId)
      const { entries, hasMore } = await scheduleRuns.listOwned(userId, scheduleId, range)
      const started = await runs.listOwnedByKeys(userId, entries.map(keyOfRun))
      const byId = new Map(started.map((run) => [run._id, run]))
      return { entries: entries.map((scheduled) => ({ scheduled, run: byId.get(scheduled.run_id) })), hasMore }
    },
  }

  async function withRun(scheduled: ScheduleRunRecord): Promise<ListedScheduleRun> {
    const run = await runs.findOwnedInThread(scheduled.user_id, keyOfRun(scheduled))
    return { scheduled, run: run ?? undefined }
  }

  async function follow(schedule: ScheduleRecord, triggeredRunId: string): Promise<void> {
    await deps.workflows.start(scheduleRunContract, {
      scheduleId: schedule._id,
      triggeredRunId,
      userId: schedule.user_id,
      projectId: schedule.project_id,
      assistantId: schedule.assistant_id,
    })
  }
}

const keyOfRun = ({ run_id: _id, thread_id }: ScheduleRunRecord) => ({ _id, thread_id })
