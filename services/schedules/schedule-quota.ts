import type { ClientSession } from 'mongoose'
import { largestOf } from '../../domain/extremes.ts'
import { AppError } from '../../domain/errors.ts'
import type { Collections } from '../collections.ts'
import { holdUser } from '../parents.ts'

type Quota = Pick<Collections, 'users' | 'schedules' | 'purchases'>
/** `most`: how many schedules a user may have without a plan. */
interface Owner {
  userId: string
  most: number
}

/**
 * Checks, within the transaction that creates a schedule, that its owner may have another one. Two creations at once
 * both write to the owner's record, so that one is repeated and counts the other.
 */
export async function takeScheduleSlot(collections: Quota, owner: Owner, session: ClientSession): Promise<void> {
  await holdUser(collections, owner.userId, session)
  const [count, max] = await Promise.all([
    collections.schedules.countDocuments({ user_id: owner.userId, deleting: { $ne: true } }, { session }),
    scheduleMaxOf(collections, owner, session),
  ])
  if (count >= max)
    throw new AppError('forbidden', `This account has ${count} schedules, which is as many as it may have.`)
}

/** As `takeScheduleSlot`, for one that is paused and goes on: a lower plan may have paused it. */
export async function takeActiveSlot(collections: Quota, owner: Owner, session: ClientSession): Promise<void> {
  await holdUser(collections, owner.userId, session)
  const [count, max] = await Promise.all([
    collections.schedules.countDocuments(activeOf(owner.userId), { session }),
    scheduleMaxOf(collections, owner, session),
  ])
  if (count >= max)
    throw new AppError('forbidden', `This account has ${count} schedules that run, which is as many as it may have.`)
}

/**
 * Pauses the newest schedules of a user beyond what the plans allow, within the transaction that changes a plan. Nothing
 * is deleted; nothing is continued when the plans allow more again, because that is for the owner to say.
 */
export async function pauseBeyondMax(collections: Quota, owner: Owner, session: ClientSession): Promise<void> {
  const { users, schedules } = collections
  // A schedule that is made or continued at the same time conflicts with this write.
  await users.updateOne({ _id: owner.userId }, { $inc: { holds: 1 } }, { session })
  const max = await scheduleMaxOf(collections, owner, session)
  const beyond = await schedules
    .find(activeOf(owner.userId), { _id: 1 }, { session })
    .sort({ created_at: 1, _id: 1 })
    .skip(max)
    .lean<{ _id: string }[]>()
  if (beyond.length === 0) return
  const reason = 'Paused because the plan of this account changed, which allows fewer schedules now.'
  // The sweep of a worker tells Temporal; from now on, nothing is started anyway.
  await schedules.updateMany(
    { _id: { $in: beyond.map(({ _id }) => _id) } },
    { $set: { paused: true, pause_reason: reason, check_at: new Date() }, $inc: { revision: 1 } },
    { session, timestamps: false },
  )
}

const activeOf = (userId: string) => ({ user_id: userId, paused: false, deleting: { $ne: true } })

/** The most that the settings or an active plan allow. */
async function scheduleMaxOf(
  { purchases }: Pick<Quota, 'purchases'>,
  { userId, most }: Owner,
  session: ClientSession,
): Promise<number> {
  const active = await purchases
    .find({ user_id: userId, status: 'active' }, { schedule_max: 1 }, { session })
    .lean<{ schedule_max?: number }[]>()
  return largestOf(
    active.map(({ schedule_max: max }) => max ?? 0),
    most,
  )
}
