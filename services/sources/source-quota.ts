import type { ClientSession } from 'mongoose'
import { largestOf } from '../../domain/extremes.ts'
import { AppError } from '../../domain/errors.ts'
import type { Collections } from '../collections.ts'
import { lockUser } from '../parents.ts'
import { purchaseStore } from '../stores/purchases.ts'
import { sourceStore } from '../stores/sources.ts'

/**
 * Checks, within the transaction that creates a source, that its owner may have another one, by the setting or by an
 * active plan. Two creations at once both write to the owner's record, so that one is repeated and counts the other.
 */
export async function takeSourceSlot(
  collections: Pick<Collections, 'users' | 'sources' | 'purchases'>,
  { userId, most }: { userId: string; most: number },
  session: ClientSession,
): Promise<void> {
  await lockUser(collections, userId, session)
  const [count, plans] = await Promise.all([
    sourceStore(collections).countOwned(userId, session),
    purchaseStore(collections).listAllowed(userId, session),
  ])
  const max = largestOf(
    plans.map(({ source_max: allowed }) => allowed ?? 0),
    most,
  )
  if (count >= max)
    throw new AppError('forbidden', `This account has ${count} sources of the web, which is as many as it may have.`)
}
