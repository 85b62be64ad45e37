import { AppError, invalidInput } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/free-form.ts'
import { checkMessageSize } from '../../domain/message-size.ts'
import { messagesToJson, normaliseMessage } from '../../domain/messages.ts'
import type { ScheduleRecord, ScheduleTiming } from '../../domain/records/schedule.ts'
import type { Assistants } from '../assistants/index.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import { holdAssistant, holdThread } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type ScheduleReads, missing, present } from './read-schedules.ts'
import { takeScheduleSlot } from './schedule-quota.ts'
import { type NewSchedule, type ScheduleChanges, changedTiming, checkTiming, timingOf } from './schedule-request.ts'
import type { SyncSchedule } from './sync.ts'

export interface ScheduleWritesDeps {
  collections: Pick<Collections, 'schedules' | 'users' | 'purchases' | 'assistants' | 'threads'>
  transaction: RunInTransaction
  assistants: Pick<Assistants, 'readOwn'>
  threads: { readOwn(userId: string, threadId: string): Promise<unknown> }
  sync: SyncSchedule
  settings: { scheduleMaxDefault: number }
  onError(error: unknown): void
}

/** Bytes of one message list that a schedule keeps. */
const inputMaxBytes = 256 * 1024

export function createScheduleWrites(deps: ScheduleWritesDeps, reads: Pick<ScheduleReads, 'get'>) {
  const { collections, transaction } = deps
  const { schedules } = collections

  return {
    async create({ userId, projectId }: Caller, scheduleId: string, given: NewSchedule): Promise<ScheduleRecord> {
      const now = new Date()
      const timing = timingOf(given)
      checkTiming({ ...timing, created_at: now }, now)
      await deps.assistants.readOwn(userId, given.assistant_id)
      if (given.thread_id !== undefined) await deps.threads.readOwn(userId, given.thread_id)
      const schedule = recordOf({ userId, projectId }, scheduleId, given, timing, now)
      await transaction(async (session) => {
        await takeScheduleSlot(collections, { userId, most: deps.settings.scheduleMaxDefault }, session)
        await holdAssistant(collections, { assistantId: given.assistant_id, userId }, session)
        if (given.thread_id !== undefined) await holdThread(collections, given.thread_id, session)
        await schedules.create([schedule], { session, timestamps: false })
      })
      await passOn(scheduleId)
      return schedule
    },

    /** Changes the given members; null removes one that is optional. A schedule that is continued begins without failures. */
    async update(userId: string, scheduleId: string, changes: ScheduleChanges): Promise<ScheduleRecord> {
      const before = await reads.get(userId, scheduleId)
      const now = new Date()
      const timing = changedTiming(before, changes)
      if (timing !== undefined) checkTiming({ ...timing, created_at: before.created_at }, now)
      if (changes.assistant_id !== undefined) await deps.assistants.readOwn(userId, changes.assistant_id)
      if (typeof changes.thread_id === 'string') await deps.threads.readOwn(userId, changes.thread_id)
      const change = updateOf(changes, timing, now)
      const updated = await transaction(async (session) => {
        if (changes.assistant_id !== undefined)
          await holdAssistant(collections, { assistantId: changes.assistant_id, userId }, session)
        if (typeof changes.thread_id === 'string') await holdThread(collections, changes.thread_id, session)
        return schedules
          .findOneAndUpdate(
            { _id: scheduleId, user_id: userId, ...present },
            { ...change, $inc: { revision: 1 } },
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

    /** By the link of a mail, whose signature was checked. */
    async stopMails(scheduleId: string): Promise<void> {
      await schedules.updateOne({ _id: scheduleId, ...present }, { $set: { mail_result: false } })
    },
  }

  /** The record is stored, so the change is made: while Temporal is away, the sweep of a worker passes it on. */
  async function passOn(scheduleId: string): Promise<void> {
    await deps.sync(scheduleId).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'unavailable') deps.onError(error)
      else throw error
    })
  }
}

function recordOf(
  { userId, projectId }: Caller,
  scheduleId: string,
  given: NewSchedule,
  timing: ScheduleTiming,
  now: Date,
): ScheduleRecord {
  return {
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
}

/** The statement that makes the changes. */
function updateOf(changes: ScheduleChanges, timing: ScheduleTiming | undefined, now: Date) {
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
  return { $set, $unset }
}

function inputJsonOf(input: NewSchedule['input']): string {
  const loc = Array.isArray(input) ? ['body', 'input'] : ['body', 'input', 'messages']
  const messages = (Array.isArray(input) ? input : input.messages).map(normaliseMessage)
  checkFreeForm(loc, messages)
  for (const [index, message] of messages.entries()) checkMessageSize(message, inputMaxBytes, [...loc, index])
  const json = messagesToJson(messages)
  if (Buffer.byteLength(json) > 2 * inputMaxBytes) throw invalidInput(['body', 'input'], 'is too long for a schedule')
  return json
}

/** The members of a timing that it does not have. */
function withoutTiming(timing: object): Record<string, 1> {
  const members = ['cron', 'interval_seconds', 'at', 'start_at', 'end_at'].filter((member) => !(member in timing))
  return Object.fromEntries(members.map((member) => [member, 1]))
}
