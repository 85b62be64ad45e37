import { AppError } from '../../domain/errors.ts'
import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Assistants } from '../assistants/index.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Downloads } from '../attachments/downloads.ts'
import type { Collections } from '../collections.ts'
import { holderOf, ownerOf } from '../owner.ts'
import { holdAssistant, holdProject, holdThread } from '../parents.ts'
import { passOn } from '../pass-on.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type ScheduleReads, missing, present } from './read-schedules.ts'
import { storedInputOf } from './schedule-input.ts'
import { takeActiveSlot, takeScheduleSlot } from './schedule-quota.ts'
import { recordOf, undoOf, updateOf } from './schedule-record.ts'
import {
  type NewSchedule,
  type ScheduleChanges,
  type ScheduleMaker,
  changedTiming,
  checkTiming,
  timingOf,
} from './schedule-request.ts'
import type { SyncSchedule } from './sync.ts'

export interface ScheduleWritesDeps {
  collections: Pick<Collections, 'schedules' | 'users' | 'projects' | 'purchases' | 'assistants' | 'threads'>
  transaction: RunInTransaction
  assistants: Pick<Assistants, 'readOwn'>
  threads: { readOwn(userId: string, threadId: string): Promise<ThreadRecord> }
  downloads: Downloads
  sync: SyncSchedule
  settings: { scheduleMaxDefault: number }
  onError(error: unknown): void
}

export function createScheduleWrites(deps: ScheduleWritesDeps, reads: Pick<ScheduleReads, 'getWhole'>) {
  const { collections, transaction } = deps
  const { schedules } = collections
  const limitOf = (userId: string) => ({ userId, most: deps.settings.scheduleMaxDefault })

  return {
    async create(
      caller: Caller,
      scheduleId: string,
      given: NewSchedule,
      maker: ScheduleMaker,
    ): Promise<ScheduleRecord> {
      const now = new Date()
      const timing = { ...timingOf(given), created_at: now }
      checkTiming(timing, now)
      await deps.assistants.readOwn(ownerOf(caller), given.assistant_id)
      if (given.thread_id !== undefined) await requireThread(caller, given.thread_id)
      const input = await storedInputOf(deps.downloads, caller.userId, given.input)
      const schedule = recordOf(caller, scheduleId, given, timing, { ...maker, ...input })
      await insert(schedule, holderOf(caller).userId)
      return schedule
    },

    insert,

    /** Changes the given members; null removes one that is optional. A schedule that is continued begins without failures. */
    async update(caller: Caller, scheduleId: string, changes: ScheduleChanges): Promise<ScheduleRecord> {
      const { userId } = caller
      // With what its input holds, so that a change which cannot be passed on is undone wholly.
      const before = await reads.getWhole(userId, scheduleId)
      const timing = changedTiming(before, changes)
      if (timing !== undefined) checkTiming({ ...timing, created_at: before.created_at }, new Date())
      if (changes.assistant_id !== undefined) await deps.assistants.readOwn(ownerOf(caller), changes.assistant_id)
      if (typeof changes.thread_id === 'string') await requireThread(caller, changes.thread_id)
      const input = changes.input && (await storedInputOf(deps.downloads, userId, changes.input))
      const change = updateOf(changes, timing, input)
      const updated = await transaction(async (session) => {
        if (before.paused && changes.paused === false) await takeActiveSlot(collections, limitOf(userId), session)
        if (changes.assistant_id !== undefined)
          await holdAssistant(
            collections,
            { assistantId: changes.assistant_id, userId: holderOf(caller).userId },
            session,
          )
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
      await passOn(deps, scheduleId, () =>
        schedules.updateOne(
          { _id: scheduleId, revision: updated.revision },
          { ...undoOf(change, before), $inc: { revision: 1 } },
          { timestamps: false },
        ),
      )
      return updated
    },

    /** Nothing is started any more from now on. A run that is under way goes on. */
    async remove(userId: string, scheduleId: string): Promise<void> {
      const { matchedCount } = await schedules.updateOne(
        { _id: scheduleId, user_id: userId, ...present },
        { $set: { deleting: true, check_at: new Date() } },
      )
      if (matchedCount === 0) throw missing()
      await passOn(deps, scheduleId)
    },

    /**
     * By the link of a mail, whose signature was checked; `stops` are those before it. `areStopped` is false if the link
     * was used before and the owner has asked for mails again since. Returns the owner too, if there is such a schedule.
     */
    async stopMails(scheduleId: string, stops: number): Promise<{ areStopped: boolean; userId: string | undefined }> {
      const unused = stops === 0 ? { mail_stops: { $in: [null, 0] } } : { mail_stops: stops }
      await schedules.updateOne(
        { _id: scheduleId, ...unused, ...present },
        { $set: { mail_result: false, mail_stops: stops + 1 } },
      )
      const now = await schedules.findOne({ _id: scheduleId, ...present }, { mail_result: 1, user_id: 1 }).lean()
      return { areStopped: !now?.mail_result, userId: now?.user_id }
    },
  }

  async function requireThread({ userId, projectId, holderId }: Caller, threadId: string): Promise<void> {
    const thread = await deps.threads.readOwn(userId, threadId)
    if (holderId !== undefined && thread.project_id !== projectId)
      throw new AppError('not_found', 'There is no such thread.')
  }

  /** Stores a new schedule, if its parents exist and its owner may have another one. `holderId` holds the project. */
  async function insert(schedule: ScheduleRecord, holderId: string = schedule.user_id): Promise<void> {
    const { _id, user_id: userId, project_id: projectId, assistant_id: assistantId, thread_id: threadId } = schedule
    await transaction(async (session) => {
      await takeScheduleSlot(collections, limitOf(userId), session)
      await holdProject(collections, { projectId, userId }, session)
      await holdAssistant(collections, { assistantId, userId: holderId }, session)
      if (threadId !== undefined) await holdThread(collections, threadId, session)
      await schedules.create([schedule], { session, timestamps: false })
    })
    await passOn(deps, _id, () => schedules.deleteOne({ _id, revision: schedule.revision }))
  }
}
