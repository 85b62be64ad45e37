import type { IdempotencyKeyRecord } from '../../domain/records/idempotency-key.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'
import { isMatched } from './results.ts'

type ClaimedKey = Pick<IdempotencyKeyRecord, '_id' | 'lease'>

/** Selects the keys whose answers contain parts of these records. */
export const aboutSubjects = (ids: string[]) => ({ subjects: { $in: ids } })
/** The same without an outcome: a key names the run's thread only with it, and an API process that died has stored none. */
export const unfinishedAbout = (runIds: string[]) => ({ ...aboutSubjects(runIds), outcome: { $exists: false } })

/** All statements on `idempotency_keys`. The id is a hash of the caller and the key. */
export const idempotencyStore = ({ idempotencyKeys: keys }: Pick<Collections, 'idempotencyKeys'>) => ({
  find: async (id: string) => keys.findById(id).lean<IdempotencyKeyRecord>(),

  async idsOf(id: string): Promise<string[]> {
    return (await keys.findById(id, { ids: 1 }).lean<Pick<IdempotencyKeyRecord, 'ids'>>())?.ids ?? []
  },

  /** False if there is one. */
  add: (record: IdempotencyKeyRecord) => isNew(keys.insertMany([record], { lean: true })),

  /** Takes over a lease that is as it was read; null if it was renewed. */
  takeOver: async (
    { _id, lease, leased_until }: IdempotencyKeyRecord,
    next: Pick<IdempotencyKeyRecord, 'lease' | 'leased_until'>,
    newId: string,
  ) =>
    keys
      .findOneAndUpdate(
        { _id, lease, leased_until },
        { $set: next, $push: { ids: newId, subjects: newId } },
        { returnDocument: 'after' },
      )
      .lean<IdempotencyKeyRecord>(),

  /** A lease that another attempt has taken over matches nothing: false. */
  renew: async ({ _id, lease }: ClaimedKey, until: Date) =>
    isMatched(await keys.updateOne({ _id, lease }, { $set: { leased_until: until } })),

  end: async ({ _id, lease }: ClaimedKey, $set: Partial<IdempotencyKeyRecord>, subjects: string[]) =>
    keys.updateOne({ _id, lease }, { $set, $addToSet: { subjects: { $each: subjects } } }),

  remove: async ({ _id, lease }: ClaimedKey) => keys.deleteOne({ _id, lease }),

  countAbout: async (ids: string[]) => keys.countDocuments(aboutSubjects(ids)),

  /** Without those that are about the others. */
  countUnfinished: async (runIds: string[], others: string[]) =>
    keys.countDocuments({ ...unfinishedAbout(runIds), $nor: [aboutSubjects(others)] }),

  /** A repeated request gets its answer from what is left of these. */
  forgetAnswersAbout: async (subjects: string[]) =>
    keys.updateMany(
      { ...aboutSubjects(subjects), outcome: 'answered' },
      { $set: { outcome: 'followed' }, $unset: { answer: 1 } },
    ),
})
