import type { ClientSession } from 'mongoose'
import type { PurchaseRecord } from '../../domain/records/purchase.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'

type Allowed = Pick<PurchaseRecord, 'thread_max' | 'schedule_max' | 'source_max'>

/** The rate limit of checkouts keeps users below this number. */
const purchasesRead = 1000
const newestFirst = { created_at: -1 } as const

/** They cannot come back to life, and nothing is paid for them. */
const final = [{ status: 'expired' as const }, { status: 'ended' as const, subscription_id: { $exists: false } }]

/** All statements on `purchases`. */
export const purchaseStore = ({ purchases }: Pick<Collections, 'purchases'>) => ({
  /** What the active plans of a user allow, each. */
  listAllowed: async (userId: string, session: ClientSession) =>
    purchases
      .find({ user_id: userId, status: 'active' }, { thread_max: 1, schedule_max: 1, source_max: 1 }, { session })
      .lean<Allowed[]>(),

  findOwned: async (userId: string, id: string) =>
    purchases.findOne({ _id: id, user_id: userId }).lean<PurchaseRecord>(),

  findByRequest: async (userId: string, requestId: string) =>
    purchases.findOne({ user_id: userId, request_id: requestId }).lean<PurchaseRecord>(),

  /** Newest first. */
  listOwned: async (userId: string, most: number = purchasesRead) =>
    purchases.find({ user_id: userId }).sort(newestFirst).limit(most).lean<PurchaseRecord[]>(),

  /** Checkouts that are not newer. */
  listOpenUntil: async (userId: string, created: Date) =>
    purchases.find({ user_id: userId, status: 'open', created_at: { $lte: created } }).lean<PurchaseRecord[]>(),

  /** Other plans that are paid regularly. */
  listOtherSubscriptions: async ({ _id, user_id }: PurchaseRecord) =>
    purchases
      .find({ user_id, _id: { $ne: _id }, status: 'active', subscription_id: { $exists: true } })
      .lean<PurchaseRecord[]>(),

  /** One of these users that is not known to have ended at the provider. */
  findUnended: async (userIds: string[]) =>
    purchases.findOne({ user_id: { $in: userIds }, closed_at: { $exists: false }, $nor: final }).lean<PurchaseRecord>(),

  countCancelled: async (userIds: string[]) => purchases.countDocuments({ user_id: { $in: userIds }, cancelled: true }),

  /** What an event of the provider is about: it names nobody. */
  listOfAny: async (filter: object) => purchases.find(filter).limit(100).lean<PurchaseRecord[]>(),

  listOfAnySubscription: async (ids: string[]) =>
    purchases.find({ subscription_id: { $in: ids } }).lean<PurchaseRecord[]>(),

  add: async (purchase: PurchaseRecord, session: ClientSession) => purchases.create([purchase], { session }),

  change: async ({ _id }: PurchaseRecord, $set: Partial<PurchaseRecord>) => purchases.updateOne({ _id }, { $set }),

  /** With the number of a new look-up at the provider; null if it is gone. */
  beginInspection: async ({ _id }: Pick<PurchaseRecord, '_id'>) =>
    purchases.findOneAndUpdate({ _id }, { $inc: { looks: 1 } }, { returnDocument: 'after' }).lean<PurchaseRecord>(),

  /** As it was before; null if a newer look-up has stored its state, or it is gone. */
  storeInspection: async ({ _id, looks }: PurchaseRecord, $set: Partial<PurchaseRecord>, session: ClientSession) =>
    purchases
      .findOneAndUpdate(
        { _id, stored_look: { $not: { $gt: looks } } },
        $set.status === 'open' ? { $set } : { $set, $unset: { url: 1 } },
        { session, returnDocument: 'before' },
      )
      .lean<PurchaseRecord>(),
})

/** All statements on `billing_events`, which belong to nobody. */
export const billingEventStore = ({ billingEvents }: Pick<Collections, 'billingEvents'>) => ({
  isKnown: async (id: string) => (await billingEvents.exists({ _id: id })) !== null,

  async remember(event: { _id: string; type: string; remove_at: Date }): Promise<void> {
    await isNew(billingEvents.create(event))
  },
})
