import { AppError } from '../../domain/errors.ts'
import type { ScheduleRecord } from '../../domain/records/schedule.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Assistants } from '../assistants/index.ts'
import type { Downloads } from '../attachments/downloads.ts'
import type { Collections } from '../collections.ts'
import { type Caller, holderOf, ownerOf, personOf } from '../owner.ts'
import { lockAssistant, lockProject, lockThread } from '../parents.ts'
import { passOn } from '../pass-on.ts'
import { scheduleRunStore, scheduleStore } from '../stores/schedules.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type ScheduleReads, missing } from './read-schedules.ts'
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
  collections: Pick<
    Collections,
    'schedules' | 'scheduleRuns' | 'users' | 'projects' | 'purchases' | 'assistants' | 'threads'
  >
  transaction: RunInTransaction
  assistants: Pick<Assistants, 'readOwn'>
  threads: { readOwn(userId: string, threadId: string): Promise<ThreadRecord> }
  downloads: Downloads
  sync: SyncSchedule
  settings: { scheduleMaxDefault: number }
  onError(error: unknown): void
}

export function createScheduleWrites(deps: ScheduleWritesDeps, reads: Pick<ScheduleReads, 'getWhole' | 'see'>) {
  const { collections, transaction } = deps
  const store = scheduleStore(collections)
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
      if (before.awaits_takeover && changes.paused === false)
        throw new AppError('conflict', 'Whoever made this schedule has left the project. Take it over instead.')
      const timing = changedTiming(before, changes)
      if (timing !== undefined) checkTiming({ ...timing, created_at: before.created_at }, new Date())
      if (changes.assistant_id !== undefined) await deps.assistants.readOwn(ownerOf(caller), changes.assistant_id)
      if (typeof changes.thread_id === 'string') await requireThread(caller, changes.thread_id)
      const input = changes.input && (await storedInputOf(deps.downloads, userId, changes.input))
      const change = updateOf(changes, timing, input)
      const updated = await transaction(async (session) => {
        if (before.paused && changes.paused === false) await takeActiveSlot(collections, limitOf(userId), session)
        if (changes.assistant_id !== undefined)
          await lockAssistant(
            collections,
            { assistantId: changes.assistant_id, userId: holderOf(caller).userId },
            session,
          )
        if (typeof changes.thread_id === 'string') await lockThread(collections, changes.thread_id, session)
        return store.changeOwned(userId, scheduleId, change, session)
      })
      if (updated === null) throw missing()
      await passOn(deps, scheduleId, () => store.undo(updated, undoOf(change, before)))
      return updated
    },

    /**
     * Makes a schedule whose maker has left the project the caller's own, and continues it: it counts for him, and its runs
     * work for him. Of two at once one gets it; throws `conflict` for one that somebody else has.
     */
    async takeOver(caller: Caller, scheduleId: string): Promise<ScheduleRecord> {
      const { userId } = caller
      const before = await reads.see(caller, scheduleId)
      if (!before.awaits_takeover) throw new AppError('conflict', 'This schedule is yours already.')
      const taken = await transaction(async (session) => {
        if (before.user_id !== userId) await takeScheduleSlot(collections, limitOf(userId), session)
        await takeActiveSlot(collections, limitOf(userId), session)
        return store.takeOver(caller, scheduleId, personOf(caller), session)
      })
      if (taken === null) throw new AppError('conflict', 'Somebody else has taken this schedule over.')
      await scheduleRunStore(collections).giveTo(userId, scheduleId)
      await passOn(deps, scheduleId)
      return taken
    },

    /** Nothing is started any more from now on. A run that is under way goes on. */
    async remove(userId: string, scheduleId: string): Promise<void> {
      if (!(await store.markDeleting(userId, scheduleId))) throw missing()
      await passOn(deps, scheduleId)
    },

    /**
     * By the link of a mail, whose signature was checked; `stops` are those before it. `areStopped` is false if the link
     * was used before and the owner has asked for mails again since. Returns the owner too, if there is such a schedule.
     */
    async stopMails(scheduleId: string, stops: number): Promise<{ areStopped: boolean; userId: string | undefined }> {
      const now = await store.stopMailsOfAny(scheduleId, stops)
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
    const { user_id: userId, project_id: projectId, assistant_id: assistantId, thread_id: threadId } = schedule
    await transaction(async (session) => {
      await takeScheduleSlot(collections, limitOf(userId), session)
      await lockProject(collections, { projectId, userId }, session)
      await lockAssistant(collections, { assistantId, userId: holderId }, session)
      if (threadId !== undefined) await lockThread(collections, threadId, session)
      await store.add(schedule, session)
    })
    await passOn(deps, schedule._id, () => store.removeUnchanged(schedule))
  }
}
