import { scheduleRunContract } from '../../domain/contracts/schedule-run.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { messagesToJson } from '../../domain/messages.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ScheduleRecord, ScheduleRunRecord } from '../../domain/records/schedule.ts'
import type { Assistants } from '../assistants/index.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { holdAssistant, holdThread } from '../parents.ts'
import { inputMessages } from '../runs/index.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { type ScheduleChanges, type NewSchedule, changedTiming, checkTiming, timingOf } from './schedule-request.ts'
import { keyOf } from './finish-run.ts'
import { takeScheduleSlot } from './schedule-quota.ts'
import type { createStartDueRun } from './start-due-run.ts'
import type { SyncSchedule } from './sync.ts'

export interface SchedulesDeps {
  collections: Pick<
    Collections,
    'schedules' | 'scheduleRuns' | 'runs' | 'users' | 'purchases' | 'assistants' | 'threads'
  >
  transaction: RunInTransaction
  assistants: Pick<Assistants, 'readOwn'>
  threads: { readOwn(userId: string, threadId: string): Promise<unknown> }
  workflows: Pick<WorkflowClient, 'start'>
  sync: SyncSchedule
  startDueRun: ReturnType<typeof createStartDueRun>
  settings: { scheduleMaxDefault: number }
  onError(error: unknown): void
}

/** A run of a schedule together with the run that it started, if that still exists. */
export interface ListedScheduleRun {
  scheduled: ScheduleRunRecord
  run: RunRecord | undefined
}

/** Bytes of one message list that a schedule keeps. */
const inputMaxBytes = 256 * 1024
const present = { deleting: { $ne: true } } as const

/** Schedules as their owners see them. Another user's schedule is answered like a missing one: `not_found`. */
export function createSchedules(deps: SchedulesDeps) {
  const { collections, transaction } = deps
  const { schedules, scheduleRuns, runs } = collections

  return {
    async create({ userId, projectId }: Caller, scheduleId: string, given: NewSchedule): Promise<ScheduleRecord> {
      const now = new Date()
      const timing = timingOf(given)
      checkTiming({ ...timing, created_at: now }, now)
      await deps.assistants.readOwn(userId, given.assistant_id)
      if (given.thread_id !== undefined) await deps.threads.readOwn(userId, given.thread_id)
      const schedule: ScheduleRecord = {
        _id: scheduleId,
        user_id: userId,
        project_id: projectId,
        assistant_id: given.assistant_id,
        ...(given.thread_id === undefined ? {} : { thread_id: given.thread_id }),
        input_json: inputJsonOf(given.input),
        ...timing,
        jitter_seconds: given.jitter_seconds ?? 0,
        ...(given.max_runs === undefined ? {} : { max_runs: given.max_runs }),
        overlap: given.overlap ?? 'skip',
        catchup_seconds: given.catchup_seconds ?? 3600,
        paused: given.paused ?? false,
        note: given.note ?? '',
        mail_result: given.mail_result ?? false,
        runs_made: 0,
        failures: 0,
        revision: 1,
        check_at: now,
        created_at: now,
        updated_at: now,
      }
      await transaction(async (session) => {
        await takeScheduleSlot(collections, { userId, most: deps.settings.scheduleMaxDefault }, session)
        await holdAssistant(collections, { assistantId: given.assistant_id, userId }, session)
        if (given.thread_id !== undefined) await holdThread(collections, given.thread_id, session)
        await schedules.create([schedule], { session, timestamps: false })
      })
      await passOn(scheduleId)
      return schedule
    },

    /** The schedules of the token's project, newest first. */
    list: ({ userId, projectId }: Caller, range: PageRange): Promise<Page<ScheduleRecord>> =>
      readPage(
        schedules
          .find({ user_id: userId, project_id: projectId, ...present })
          .sort({ _id: -1 })
          .lean<ScheduleRecord>(),
        range,
        ({ input_json: input }) => Buffer.byteLength(input) + restBytes,
      ),

    get,

    /** Changes the given members; null removes one that is optional. A schedule that is continued begins without failures. */
    async update(userId: string, scheduleId: string, changes: ScheduleChanges): Promise<ScheduleRecord> {
      const before = await get(userId, scheduleId)
      const now = new Date()
      const timing = changedTiming(before, changes)
      if (timing !== undefined) checkTiming({ ...timing, created_at: before.created_at }, now)
      if (changes.assistant_id !== undefined) await deps.assistants.readOwn(userId, changes.assistant_id)
      if (typeof changes.thread_id === 'string') await deps.threads.readOwn(userId, changes.thread_id)
      const { input, note, ...others } = changes
      const plain = ['assistant_id', 'jitter_seconds', 'overlap', 'catchup_seconds', 'paused', 'mail_result'] as const
      const $set: Partial<ScheduleRecord> = { updated_at: now, check_at: now, ...timing }
      for (const member of plain) if (others[member] !== undefined) Object.assign($set, { [member]: others[member] })
      if (input !== undefined) $set.input_json = inputJsonOf(input)
      if (note !== undefined) $set.note = note ?? ''
      if (typeof changes.thread_id === 'string') $set.thread_id = changes.thread_id
      if (typeof changes.max_runs === 'number') $set.max_runs = changes.max_runs
      if (changes.paused === false) $set.failures = 0
      const $unset = {
        ...(changes.thread_id === null ? { thread_id: 1 } : {}),
        ...(changes.max_runs === null ? { max_runs: 1 } : {}),
        ...(changes.paused === undefined ? {} : { pause_reason: 1 }),
        ...(timing === undefined ? {} : withoutTiming(timing)),
      }
      const updated = await transaction(async (session) => {
        if (changes.assistant_id !== undefined)
          await holdAssistant(collections, { assistantId: changes.assistant_id, userId }, session)
        if (typeof changes.thread_id === 'string') await holdThread(collections, changes.thread_id, session)
        return schedules
          .findOneAndUpdate(
            { _id: scheduleId, user_id: userId, ...present },
            { $set, $unset, $inc: { revision: 1 } },
            { session, returnDocument: 'after', timestamps: false },
          )
          .lean<ScheduleRecord>()
      })
      if (updated === null) throw missing()
      await passOn(scheduleId)
      return updated
    },

    /** Nothing is started any more from now on. A run that is under way goes on. */
    async remove(userId: string, scheduleId: string): Promise<void> {
      const { matchedCount } = await schedules.updateOne(
        { _id: scheduleId, user_id: userId, ...present },
        { $set: { deleting: true, check_at: new Date() } },
      )
      if (matchedCount === 0) throw missing()
      await passOn(scheduleId)
    },

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
      const scheduled = await scheduleRuns.findById(keyOf(due)).lean<ScheduleRunRecord>()
      if (scheduled === null) throw missing()
      return withRun(scheduled)
    },

    /** A run that its owner triggered; for a repeated request. */
    async triggered(userId: string, scheduleId: string, runId: string): Promise<ListedScheduleRun | null> {
      const key = keyOf({ scheduleId, dueAt: '', triggeredRunId: runId })
      const scheduled = await scheduleRuns.findOne({ _id: key, user_id: userId }).lean<ScheduleRunRecord>()
      return scheduled && withRun(scheduled)
    },

    /** Starts the workflow that follows a triggered run, unless it runs or the run has ended. */
    async followAgain(runKey: string): Promise<void> {
      const scheduled = await scheduleRuns.findById(runKey).lean<ScheduleRunRecord>()
      const schedule = scheduled && (await schedules.findById(scheduled.schedule_id).lean<ScheduleRecord>())
      if (scheduled === null || !schedule) return
      await follow(schedule, scheduled.run_id)
    },

    /** Newest first. */
    async runs(userId: string, scheduleId: string, range: PageRange): Promise<Page<ListedScheduleRun>> {
      await get(userId, scheduleId)
      const query = scheduleRuns
        .find({ schedule_id: scheduleId, user_id: userId })
        .sort({ created_at: -1, _id: -1 })
        .lean<ScheduleRunRecord>()
      const { entries, hasMore } = await readPage(query, range, (entry) => Buffer.byteLength(JSON.stringify(entry)))
      const started = await runs
        .find({ _id: { $in: entries.map((entry) => entry.run_id) }, user_id: userId }, { input_json: 0 })
        .lean<RunRecord[]>()
      const byId = new Map(started.map((run) => [run._id, run]))
      return { entries: entries.map((scheduled) => ({ scheduled, run: byId.get(scheduled.run_id) })), hasMore }
    },

    /** By the link of a mail, whose signature was checked. False if there is no such schedule. */
    async stopMails(scheduleId: string): Promise<boolean> {
      const { matchedCount } = await schedules.updateOne(
        { _id: scheduleId, ...present },
        { $set: { mail_result: false } },
      )
      return matchedCount > 0
    },
  }

  async function get(userId: string, scheduleId: string): Promise<ScheduleRecord> {
    const schedule = await schedules.findOne({ _id: scheduleId, user_id: userId, ...present }).lean<ScheduleRecord>()
    if (schedule === null) throw missing()
    return schedule
  }

  async function withRun(scheduled: ScheduleRunRecord): Promise<ListedScheduleRun> {
    const run = await runs.findOne({ _id: scheduled.run_id, user_id: scheduled.user_id }).lean<RunRecord>()
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

  /** The record is stored, so the change is made: while Temporal is away, the sweep of a worker passes it on. */
  async function passOn(scheduleId: string): Promise<void> {
    await deps.sync(scheduleId).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'unavailable') deps.onError(error)
      else throw error
    })
  }
}

/** A schedule without its input. */
const restBytes = 5000

const missing = () => new AppError('not_found', 'There is no such schedule.')

function inputJsonOf(input: NewSchedule['input']): string {
  const json = messagesToJson(inputMessages(input, { maxBytes: inputMaxBytes }))
  if (Buffer.byteLength(json) > 2 * inputMaxBytes) throw invalidInput(['body', 'input'], 'is too long for a schedule')
  return json
}

/** The members of a timing that it does not have. */
function withoutTiming(timing: object): Record<string, 1> {
  const members = ['cron', 'interval_seconds', 'at', 'start_at', 'end_at'].filter((member) => !(member in timing))
  return Object.fromEntries(members.map((member) => [member, 1]))
}
