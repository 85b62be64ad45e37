import type { ClientSession, UpdateQuery } from 'mongoose'
import type { Person } from '../../domain/acting.ts'
import {
  type ScheduleRecord,
  type ScheduleRunRecord,
  type ScheduleRunStatus,
  failuresBeforePause,
} from '../../domain/records/schedule.ts'
import type { Collections } from '../collections.ts'
import type { UserInProject } from '../owner.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { isMatched } from './results.ts'

/** Selects schedules that are not being deleted. */
const present = { deleting: { $ne: true } } as const
const isActive = { paused: false, ...present } as const
const dayMs = 86_400_000
/** A schedule without its input. */
const restBytes = 5000

const seenBy = (userId: string, projectId: string, withLeft: boolean) => {
  const own = { user_id: userId, project_id: projectId }
  return withLeft ? { $or: [own, { project_id: projectId, awaits_takeover: true as const }] } : own
}

/** For whom an assistant makes schedules. */
interface Planner {
  assistant: { _id: string; user_id: string }
  person: Person
}

/** Versions that did not store whose it is kept only those of owners. */
const ofPlanner = ({ assistant, person }: Planner) => ({
  user_id: assistant.user_id,
  assistant_id: assistant._id,
  person: person === 'owner' ? { $in: [person, null] } : person,
  ...present,
})

/** What pauses a schedule, and lets Temporal learn of it by the next comparison. */
const pause = (reason: string) => ({
  $set: { paused: true, pause_reason: reason, check_at: new Date() },
  $inc: { revision: 1 },
})

const oldestDue = { sort: { check_at: 1 }, projection: { _id: 1 } } as const
const isDue = (now: number) => ({ check_at: { $lt: new Date(now) } })
const leaseOf = (now: number, leaseMs: number) => ({ $set: { check_at: new Date(now + leaseMs) } })

/** All statements on `schedules`. */
export const scheduleStore = ({ schedules }: Pick<Collections, 'schedules'>) => ({
  /** Those of a project, newest first; `withLeft`: also those whose makers have left it. */
  listOwned: (
    { userId, projectId }: UserInProject,
    range: PageRange,
    withLeft = false,
  ): Promise<Page<ScheduleRecord>> =>
    readPage(
      schedules
        .find({ ...seenBy(userId, projectId, withLeft), ...present })
        .sort({ _id: -1 })
        .lean<ScheduleRecord>(),
      range,
      ({ input_json: input }) => Buffer.byteLength(input) + restBytes,
    ),

  /** The caller decides who may see it: it may wait for somebody to take it over. */
  findPresentOfAny: async (id: string) => schedules.findOne({ _id: id, ...present }).lean<ScheduleRecord>(),

  /** Those that a user has made in a project. */
  idsOf: async (his: Pick<ScheduleRecord, 'user_id' | 'project_id'>): Promise<string[]> =>
    (await schedules.find({ ...his, ...present }, { _id: 1 }).lean()).map(({ _id }) => _id),

  /** One whose maker leaves the project: it is the holder's, paused, and asks in no conversation of the maker any more. */
  leave: async (his: Pick<ScheduleRecord, 'user_id' | 'project_id'>, id: string, holderId: string, reason: string) =>
    schedules.updateOne(
      { _id: id, ...his },
      {
        $set: {
          user_id: holderId,
          awaits_takeover: true,
          paused: true,
          pause_reason: reason,
          created_by: his.user_id,
          mail_result: false,
          check_at: new Date(),
        },
        $unset: { thread_id: 1 },
        $inc: { revision: 1 },
      },
    ),

  /** Gives one whose maker has left the project to somebody who uses it; null if another has it. */
  takeOver: async ({ userId, projectId }: UserInProject, id: string, person: Person, session: ClientSession) =>
    schedules
      .findOneAndUpdate(
        { _id: id, project_id: projectId, awaits_takeover: true, ...present },
        {
          $set: { user_id: userId, person, paused: false, failures: 0, check_at: new Date() },
          $unset: { awaits_takeover: 1, pause_reason: 1 },
          $inc: { revision: 1 },
        },
        { session, returnDocument: 'after' },
      )
      .lean<ScheduleRecord>(),

  findOwned: async (userId: string, id: string) =>
    schedules.findOne({ _id: id, user_id: userId, ...present }).lean<ScheduleRecord>(),

  /** With the bytes of the images and files of its input. */
  findOwnedWhole: async (userId: string, id: string) =>
    schedules
      .findOne({ _id: id, user_id: userId, ...present })
      .select('+attachments')
      .lean<ScheduleRecord>(),

  /** Also one that is being deleted: of a repeated request. */
  findMadeBy: async (userId: string, id: string) =>
    schedules.findOne({ _id: id, user_id: userId }).lean<ScheduleRecord>(),

  countOwned: async (userId: string, session: ClientSession) =>
    schedules.countDocuments({ user_id: userId, ...present }, { session }),

  countActive: async (userId: string, session: ClientSession) =>
    schedules.countDocuments({ user_id: userId, ...isActive }, { session }),

  /** Pauses all of a user that run but the oldest ones. */
  async pauseNewest(userId: string, remaining: number, reason: string, session: ClientSession): Promise<void> {
    const beyond = await schedules
      .find({ user_id: userId, ...isActive }, { _id: 1 }, { session })
      .sort({ created_at: 1, _id: 1 })
      .skip(remaining)
      .lean<{ _id: string }[]>()
    if (beyond.length === 0) return
    await schedules.updateMany({ _id: { $in: beyond.map(({ _id }) => _id) } }, pause(reason), { session })
  },

  add: async (schedule: ScheduleRecord, session: ClientSession) => schedules.create([schedule], { session }),

  /** The changed schedule; null if there is none. */
  changeOwned: async (userId: string, id: string, change: UpdateQuery<ScheduleRecord>, session: ClientSession) =>
    schedules
      .findOneAndUpdate(
        { _id: id, user_id: userId, ...present },
        { ...change, $inc: { revision: 1 } },
        { session, returnDocument: 'after' },
      )
      .lean<ScheduleRecord>(),

  /** Takes a change back, if none came after it. */
  undo: async ({ _id, revision }: ScheduleRecord, change: UpdateQuery<ScheduleRecord>) =>
    schedules.updateOne({ _id, revision }, { ...change, $inc: { revision: 1 } }),

  /** Takes a creation back, if nothing has changed it. */
  removeUnchanged: async ({ _id, revision }: ScheduleRecord) => schedules.deleteOne({ _id, revision }),

  /** False if there is none. */
  async markDeleting(userId: string, id: string): Promise<boolean> {
    const $set = { deleting: true, check_at: new Date() }
    return (await schedules.updateOne({ _id: id, user_id: userId, ...present }, { $set })).matchedCount > 0
  },

  /** Of what an assistant made for a person, newest first. */
  listPlanned: async (planner: Planner, most: number) =>
    schedules.find(ofPlanner(planner)).sort({ _id: -1 }).limit(most).lean<ScheduleRecord[]>(),

  hasPlanned: async (planner: Planner, id: string) =>
    (await schedules.exists({ _id: id, made_by: 'assistant', ...ofPlanner(planner) })) !== null,

  /** Moves those of an assistant in its project with it. Temporal learns of it by the next comparison. */
  async moveWith(
    { _id: assistant_id, project_id }: { _id: string; project_id: string },
    to: string,
    session: ClientSession,
  ): Promise<void> {
    const change = { $set: { project_id: to, check_at: new Date() }, $inc: { revision: 1 } }
    await schedules.updateMany({ assistant_id, project_id }, change, { session })
  },

  /** Those of an assistant in its project that ask in one thread. */
  listInThreads: async (
    { _id: assistant_id, project_id }: { _id: string; project_id: string },
    session: ClientSession,
  ) =>
    schedules
      .find({ assistant_id, project_id, thread_id: { $exists: true }, ...present }, { thread_id: 1 }, { session })
      .lean<Pick<ScheduleRecord, '_id' | 'thread_id'>[]>(),

  /** By the link of a mail, whose signature was checked: of any user. */
  async stopMailsOfAny(id: string, stops: number): Promise<Pick<ScheduleRecord, 'mail_result' | 'user_id'> | null> {
    const unused = stops === 0 ? { mail_stops: { $in: [null, 0] } } : { mail_stops: stops }
    const $set = { mail_result: false, mail_stops: stops + 1 }
    await schedules.updateOne({ _id: id, ...unused, ...present }, { $set })
    return schedules.findOne({ _id: id, ...present }, { mail_result: 1, user_id: 1 }).lean()
  },

  /** For workers, which Temporal tells of a schedule. */
  findOfAny: async (id: string) => schedules.findById(id).lean<ScheduleRecord>(),

  /** The same with the bytes of its input. */
  findWholeOfAny: async (id: string) => schedules.findById(id).select('+attachments').lean<ScheduleRecord>(),

  /** Counts a run that begins: one that was due, unless the schedule may have no more. False if it may not run. */
  async countRunOfAny(id: string, { isTriggered }: { isTriggered: boolean }, session: ClientSession): Promise<boolean> {
    const hasRunsLeft = { $or: [{ max_runs: { $exists: false } }, { $expr: { $lt: ['$runs_made', '$max_runs'] } }] }
    const { matchedCount } = await schedules.updateOne(
      { _id: id, ...present, ...(isTriggered ? {} : { paused: false, ...hasRunsLeft }) },
      { $inc: { holds: 1, ...(isTriggered ? {} : { runs_made: 1 }) } },
      { session },
    )
    return matchedCount > 0
  },

  /** Counts the end of a run. True if it is the failure that pauses the schedule. */
  async countEndOfAny(
    id: string,
    verdict: 'failed' | 'succeeded',
    whyPaused: string,
    session: ClientSession,
  ): Promise<boolean> {
    const schedule = await schedules
      .findOneAndUpdate(
        { _id: id, ...present },
        verdict === 'failed' ? { $inc: { failures: 1 } } : { $set: { failures: 0 } },
        { session, returnDocument: 'after' },
      )
      .lean<ScheduleRecord>()
    if (schedule === null || schedule.paused || schedule.failures < failuresBeforePause) return false
    await schedules.updateOne({ _id: id }, pause(whyPaused), { session })
    return true
  },

  mailsResultOfAny: async (id: string) => (await schedules.exists({ _id: id, mail_result: true })) !== null,

  /** Notes the mail of a refused run: one a day. False if there was one, or none is wanted. */
  async noteRefusalMailOfAny(id: string, run: string, now: Date): Promise<boolean> {
    const isOpen = {
      $or: [
        { refusal_mail: { $exists: false } },
        { 'refusal_mail.at': { $lt: new Date(now.getTime() - dayMs) } },
        // Another attempt has noted it, and may have died before the mail.
        { 'refusal_mail.run': run },
      ],
    }
    const $set = { refusal_mail: { at: now, run } }
    return (await schedules.updateOne({ _id: id, mail_result: true, ...isOpen }, { $set })).matchedCount > 0
  },

  /** Notes that Temporal has this revision. False if it has changed. */
  noteCompared: async ({ _id, revision }: ScheduleRecord, checkAt: Date) =>
    isMatched(await schedules.updateOne({ _id, revision, ...present }, { $set: { check_at: checkAt } })),

  existsOfAny: async (id: string) => (await schedules.exists({ _id: id })) !== null,

  /** Removes one that is being deleted. */
  removeDeletingOfAny: async (id: string) => schedules.deleteOne({ _id: id, deleting: true }),

  /** For the sweep: takes the lease of one that is due, and returns its id. */
  leaseDueOfAny: async (now: number, leaseMs: number): Promise<string | null> =>
    (await schedules.findOneAndUpdate(isDue(now), leaseOf(now, leaseMs), oldestDue).lean())?._id ?? null,
})

/** All statements on `schedule_runs`. Their keys name the schedule: whoever has one may know of the run. */
export const scheduleRunStore = ({ scheduleRuns }: Pick<Collections, 'scheduleRuns'>) => ({
  findOwned: async (userId: string, key: string) =>
    scheduleRuns.findOne({ _id: key, user_id: userId }).lean<ScheduleRunRecord>(),

  /** Of a schedule, newest first. */
  listOwned: (userId: string, scheduleId: string, range: PageRange): Promise<Page<ScheduleRunRecord>> =>
    readPage(
      scheduleRuns
        .find({ schedule_id: scheduleId, user_id: userId })
        .sort({ created_at: -1, _id: -1 })
        .lean<ScheduleRunRecord>(),
      range,
      (entry) => Buffer.byteLength(JSON.stringify(entry)),
    ),

  /** For workers, which Temporal tells of a run. */
  findOfAny: async (key: string) => scheduleRuns.findById(key).lean<ScheduleRunRecord>(),

  add: async (run: ScheduleRunRecord, session: ClientSession) => scheduleRuns.create([run], { session }),

  /** Notes that no run was started, unless it is known how it ended. */
  refuse: async ({ _id }: ScheduleRunRecord, error: NonNullable<ScheduleRunRecord['error']>) =>
    scheduleRuns.updateOne({ _id, outcome: { $exists: false } }, { $set: { outcome: 'refused', error } }),

  /** Gives it another run. False if another attempt has. */
  renameRun: async ({ _id, run_id }: ScheduleRunRecord, runId: string) =>
    isMatched(await scheduleRuns.updateOne({ _id, run_id }, { $set: { run_id: runId } })),

  /** Notes how it ended. False if that was noted before. */
  finish: async (
    { _id }: ScheduleRunRecord,
    ending: Pick<ScheduleRunRecord, 'error'> & { outcome: ScheduleRunStatus; finished_at: Date },
    session: ClientSession,
  ) =>
    isMatched(
      await scheduleRuns.updateOne(
        { _id, finished_at: { $exists: false } },
        { $set: ending, $unset: { check_at: 1 } },
        { session },
      ),
    ),

  /** Of a schedule that was taken over, or left (`from`). */
  giveTo: async (userId: string, scheduleId: string, from?: string) =>
    scheduleRuns.updateMany(
      { schedule_id: scheduleId, ...(from === undefined ? {} : { user_id: from }) },
      { $set: { user_id: userId } },
    ),

  /** Moves those of an assistant in its project with it. */
  moveWith: async (
    { _id: assistant_id, project_id }: { _id: string; project_id: string },
    to: string,
    session: ClientSession,
  ) => scheduleRuns.updateMany({ assistant_id, project_id }, { $set: { project_id: to } }, { session }),

  /** Of a schedule that goes. */
  removeOfSchedule: async (scheduleId: string) => scheduleRuns.deleteMany({ schedule_id: scheduleId }),

  /** For the sweep: takes the lease of one that is due, and returns its key. */
  leaseDueOfAny: async (now: number, leaseMs: number): Promise<string | null> =>
    (await scheduleRuns.findOneAndUpdate(isDue(now), leaseOf(now, leaseMs), oldestDue).lean())?._id ?? null,
})
