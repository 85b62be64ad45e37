import type { DueRun, NoRunReason, StartOutcome } from '../../domain/contracts/schedule-run.ts'
import { cutText } from '../../domain/cut-text.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { messagesFromJson } from '../../domain/messages.ts'
import { type ScheduleRecord, type ScheduleRunRecord, personOf, scheduleRunKey } from '../../domain/records/schedule.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { noteActivity } from '../note-activity.ts'
import { type Caller, requireRole } from '../owner.ts'
import type { Runs } from '../runs/index.ts'
import { projectStore } from '../stores/projects.ts'
import { runStore } from '../stores/runs.ts'
import { scheduleRunStore, scheduleStore } from '../stores/schedules.ts'
import { threadStore } from '../stores/threads.ts'
import { userStore } from '../stores/users.ts'
import { threadRecordOf } from '../threads/create-thread.ts'
import type { RunInTransaction } from '../transactions.ts'
import { runInputOf } from './schedule-input.ts'

interface StartDueRunDeps {
  collections: Pick<Collections, 'schedules' | 'scheduleRuns' | 'runs' | 'threads' | 'users' | 'projects'>
  transaction: RunInTransaction
  runs: Pick<Runs, 'prepare' | 'start'>
}

/** Longer than the API needs to start the workflow that follows a run. */
const followedAfterMs = 60_000

/**
 * Starts the run of a schedule as `POST /runs/` does. Safe to repeat: the first attempt stores which run and which
 * thread it is, so that whatever dies in between, the run exists once.
 *
 * Throws what may succeed later, such as `unavailable`. A refusal that stays, such as a thread that is gone or a budget
 * that is used up, is stored with the run of the schedule, and then there is nothing to wait for.
 */
export function createStartDueRun(deps: StartDueRunDeps) {
  const { users } = deps.collections
  const schedules = scheduleStore(deps.collections)
  const scheduleRuns = scheduleRunStore(deps.collections)

  return async (due: DueRun): Promise<StartOutcome> => {
    const claimed = await claim(due)
    if (typeof claimed === 'string') return { next: 'none', reason: claimed }
    if (claimed.finished_at !== undefined) return { next: 'finish' }
    const schedule = await schedules.findWholeOfAny(due.scheduleId)
    if (schedule === null) return { next: 'none', reason: 'gone' }
    try {
      await start(schedule, claimed)
      return { next: 'wait' }
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      const { status: status_code, code: type, message } = error
      await scheduleRuns.refuse(claimed, { status_code, type, message })
      return { next: 'finish' }
    }
  }

  /** The stored run of this time, made now if it is the first attempt and the schedule may run. */
  async function claim({ scheduleId, dueAt, triggeredRunId }: DueRun): Promise<ScheduleRunRecord | NoRunReason> {
    const key = scheduleRunKey(scheduleId, triggeredRunId ?? new Date(dueAt))
    const known = await scheduleRuns.findOfAny(key)
    if (known !== null) return known
    const schedule = await schedules.findOfAny(scheduleId)
    if (schedule === null || schedule.deleting) return 'gone'
    const user = await userStore({ users }).findState(schedule.user_id)
    if (user === null || user.deleting) return 'gone'
    if (user.suspended_at !== undefined || user.deactivated_at !== undefined) return 'suspended'
    // Whose schedules run is not inactive.
    await noteActivity(users, { _id: schedule.user_id })
    const isTriggered = triggeredRunId !== undefined
    const now = new Date()
    const record: ScheduleRunRecord = {
      _id: key,
      schedule_id: scheduleId,
      user_id: schedule.user_id,
      project_id: schedule.project_id,
      assistant_id: schedule.assistant_id,
      thread_id: schedule.thread_id ?? newId(),
      run_id: triggeredRunId ?? newId(),
      due_at: new Date(dueAt),
      triggered: isTriggered,
      created_at: now,
      ...(isTriggered ? { check_at: new Date(now.getTime() + followedAfterMs) } : {}),
    }
    try {
      return await deps.transaction(async (session) => {
        if (!(await schedules.countRunOfAny(scheduleId, { isTriggered }, session)))
          return schedule.paused ? 'paused' : schedule.max_runs === undefined ? 'gone' : 'enough_runs'
        await scheduleRuns.add(record, session)
        return record
      })
    } catch (error) {
      const other = isDuplicateKey(error) && (await scheduleRuns.findOfAny(key))
      if (other) return other
      throw error
    }
  }

  /** Its maker, while he may have schedules in its project. */
  async function callerOf({ user_id: userId, project_id: projectId }: ScheduleRecord): Promise<Caller> {
    const project = await projectStore(deps.collections).findSharedOfAny(projectId)
    if (project === null || project.user_id === userId) return { userId, projectId }
    const user = await userStore({ users }).findGrouped(userId)
    const role = requireRole(project, user ?? { _id: userId }, 'editor')
    return { userId, projectId, holderId: project.user_id, role }
  }

  async function start(schedule: ScheduleRecord, scheduled: ScheduleRunRecord) {
    const { thread_id: threadId } = scheduled
    let runId = scheduled.run_id
    const earlier = await runStore(deps.collections).findErrorInThread({ _id: runId, thread_id: threadId })
    if (earlier !== null && earlier.error?.type !== 'unavailable') return
    if (earlier !== null) {
      // An attempt was ended because Temporal did not take it; this one has another id.
      runId = newId()
      if (!(await scheduleRuns.renameRun(scheduled, runId)))
        throw new AppError('unavailable', 'Another attempt has begun.')
    }
    const draft = schedule.thread_id === undefined ? await draftOf(deps, schedule, threadId) : undefined
    const received = runInputOf(schedule)
    const requested = { thread_id: threadId, assistant_id: schedule.assistant_id, input: received.input }
    const caller = await callerOf(schedule)
    const prepared = await deps.runs.prepare(caller, requested, 'scheduled', { draft, person: personOf(schedule) })
    try {
      await deps.runs.start({ ...prepared, ...received, scheduleId: schedule._id }, runId)
    } catch (error) {
      // Another attempt has stored it meanwhile; the sweep of open runs passes on what that attempt did not.
      if (!isDuplicateKey(error)) throw error
    }
  }
}

/** The thread of a run that has one of its own, unless an attempt whose run Temporal did not take has stored it. */
async function draftOf(
  { collections }: StartDueRunDeps,
  schedule: ScheduleRecord,
  threadId: string,
): Promise<ThreadRecord | undefined> {
  if (await threadStore(collections).hasOwned(schedule.user_id, threadId)) return undefined
  return threadRecordOf({
    id: threadId,
    userId: schedule.user_id,
    projectId: schedule.project_id,
    name: cutText(schedule.note || questionOf(schedule), threadNameLength) || 'Scheduled run',
    metadataJson: JSON.stringify({ schedule_id: schedule._id }),
    assistantId: schedule.assistant_id,
    public: false,
  })
}

const threadNameLength = 100

/** The question of its last message, if that has words. */
const questionOf = ({ input_json: json }: ScheduleRecord): string =>
  messagesFromJson(json).at(-1)?.data.content.trim() ?? ''
