import type { OwnerField } from '../../domain/records/declared-record.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type Members, type Store, inBatches, sumOver } from './data-store.ts'
import { type Erasable, eraseAll } from './erase-all.ts'

/** The members by which records name their owners. */
export const membersOf = {
  user_id: 'userIds',
  project_id: 'projectIds',
  assistant_id: 'assistantIds',
  thread_id: 'threadIds',
} as const satisfies Record<OwnerField, keyof Members>

/** The part of a collection that is used here; filters name the members by which records name their owners. */
export interface OwnedRecords extends Erasable<object> {
  countDocuments(filter: object): PromiseLike<number>
  aggregate(pipeline: [{ $group: { _id: string } }]): { cursor(): AsyncIterable<unknown> }
}

/** Records that go with any of their owners. */
export function ownedStore(
  name: string,
  owned: OwnedRecords,
  fields: readonly OwnerField[],
  transaction: RunInTransaction,
): Store {
  return {
    name,
    phase: 'contents',
    collections: [name],
    async deleteFor(members) {
      for (const field of fields)
        await inBatches(members[membersOf[field]], (ids) => eraseAll(transaction, owned, { [field]: { $in: ids } }))
    },
    async countFor(members) {
      let total = 0
      for (const [index, field] of fields.entries()) {
        // A record with two owners among the members is counted once.
        const counted = fields.slice(0, index).map((other) => ({ [other]: { $in: members[membersOf[other]] } }))
        total += await sumOver(members[membersOf[field]], async (ids) =>
          owned.countDocuments({ [field]: { $in: ids }, ...(counted.length > 0 ? { $nor: counted } : {}) }),
        )
      }
      return total
    },
  }
}
