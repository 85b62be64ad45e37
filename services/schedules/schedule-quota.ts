import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import { largestOf } from '../../domain/extremes.ts'
import type { Collections } from '../collections.ts'
import { lockUser } from '../parents.ts'
import { purchaseStore } from '../stores/purchases.ts'
import { scheduleStore } from '../stores/schedules.ts'
import { userStore } from '../stores/users.ts'

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
  await lockUser(collections, owner.userId, session)
  const [count, max] = await Promise.all([
    scheduleStore(collections).countOwned(owner.userId, session),
    scheduleMaxOf(collections, owner, session),
  ])
  if (count >= max)
    throw new AppError('forbidden', `This account has ${count} schedules, which is as many as it may have.`)
}

/** As `takeScheduleSlot`, for one that is paused and goes on: a lower plan may have paused it. */
export async function takeActiveSlot(collections: Quota, owner: Owner, session: ClientSession): Promise<void> {
  await lockUser(collections, owner.userId, session)
  const [count, max] = await Promise.all([
    scheduleStore(collections).countActive(owner.userId, session),
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
  // A schedule that is made or continued at the same time conflicts with this write.
  await userStore(collections).lock(owner.userId, session)
  const max = await scheduleMaxOf(collections, owner, session)
  const reason = 'Paused because the plan of this account changed, which allows fewer schedules now.'
  // The sweep of a worker tells Temporal; from now on, nothing is started anyway.
  await scheduleStore(collections).pauseNewest(owner.userId, max, reason, session)
}

/** The most that the settings or an active plan allow. */
async function scheduleMaxOf(
  collections: Pick<Quota, 'purchases'>,
  { userId, most }: Owner,
  session: ClientSession,
): Promise<number> {
  const active = await purchaseStore(collections).listAllowed(userId, session)
  return largestOf(
    active.map(({ schedule_max: max }) => max ?? 0),
    most,
  )
}
