import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { Collections } from '../collections.ts'
import { holdUser } from '../parents.ts'

/**
 * Checks, within the transaction that creates a schedule, that its owner may have another one: `most`, or more by an
 * active plan. Two creations at once both write to the owner's record, so that one is repeated and counts the other.
 */
export async function takeScheduleSlot(
  { users, schedules, purchases }: Pick<Collections, 'users' | 'schedules' | 'purchases'>,
  { userId, most }: { userId: string; most: number },
  session: ClientSession,
): Promise<void> {
  await holdUser({ users }, userId, session)
  const [count, active] = await Promise.all([
    schedules.countDocuments({ user_id: userId, deleting: { $ne: true } }, { session }),
    purchases
      .find({ user_id: userId, status: 'active' }, { schedule_max: 1 }, { session })
      .lean<{ schedule_max?: number }[]>(),
  ])
  const limit = Math.max(most, ...active.map(({ schedule_max: max }) => max ?? 0))
  if (count >= limit)
    throw new AppError('forbidden', `This account has ${count} schedules, which is as many as it may have.`)
}
