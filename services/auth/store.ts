import type { ClientSession } from 'mongoose'
import type { ProgramLoginRecord } from '../../domain/records/program-login.ts'
import type { Collections } from '../collections.ts'
import { isDeleted, isMatched } from '../stores/results.ts'

const listed = 100

const present = () => ({ remove_at: { $gt: new Date() } })
const waiting = (code_hash: string) => ({ code_hash, status: 'waiting' as const, ...present() })

/** All statements on the logins of programs: of their user, or by a secret that only the program or the person knows. */
export const programLoginStore = ({ programLogins }: Pick<Collections, 'programLogins'>) => ({
  add: async (login: ProgramLoginRecord) => programLogins.create([login]),

  /** What asks under a code. */
  findWaiting: async (codeHash: string) => programLogins.findOne(waiting(codeHash)).lean<ProgramLoginRecord>(),

  /** A code works once: false if nothing asks under it. */
  decide: async (codeHash: string, $set: Partial<ProgramLoginRecord>, session: ClientSession) =>
    isMatched(await programLogins.updateOne(waiting(codeHash), { $set, $unset: { code_hash: 1 } }, { session })),

  findOfDevice: async (deviceHash: string) =>
    programLogins.findOne({ device_hash: deviceHash, ...present() }).lean<ProgramLoginRecord>(),

  /** Begins one that was allowed, once: null if another question was first. */
  begin: async (id: string, deviceHash: string, now: Date, end: Date) =>
    programLogins
      .findOneAndUpdate(
        { _id: id, device_hash: deviceHash, ...present(), status: 'allowed' },
        { $set: { status: 'used', last_used_at: now, remove_at: end }, $unset: { device_hash: 1 } },
      )
      .lean<ProgramLoginRecord>(),

  /** Those that have a token, the newest first. */
  list: async (userId: string) =>
    programLogins
      .find({ user_id: userId, status: 'used', ...present() })
      .sort({ created_at: -1, _id: -1 })
      .limit(listed)
      .lean<ProgramLoginRecord[]>(),

  /** Null if it was ended. */
  findUse: async (userId: string, id: string) =>
    programLogins
      .findOne({ _id: id, user_id: userId, ...present() }, { last_used_at: 1 })
      .lean<Pick<ProgramLoginRecord, 'last_used_at'>>(),

  noteUse: async (userId: string, id: string, now: Date, before: Date) =>
    programLogins.updateOne(
      { _id: id, user_id: userId, ...present(), last_used_at: { $lte: before } },
      { $set: { last_used_at: now } },
    ),

  /** False if there is none. */
  end: async (userId: string, id: string) => isDeleted(await programLogins.deleteOne({ _id: id, user_id: userId })),
})
