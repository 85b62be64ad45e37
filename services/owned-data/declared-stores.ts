import type { DeclaredRecord } from '../../domain/records/declared-record.ts'
import { declaredRecords } from '../../domain/records/declared-records.ts'
import type { Collections } from '../collections.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { Store } from './data-store.ts'
import { type OwnedRecords, ownedStore } from './owned-store.ts'

/**
 * The collections of the declared records that go with an owner, each with the members by which its records name their
 * owners.
 */
export function declaredCollections(collections: Collections): (Pick<
  DeclaredRecord,
  'collection' | 'owners' | 'orphanedBy' | 'removedLast'
> & {
  records: OwnedRecords
})[] {
  const all: Record<string, unknown> = { ...collections }
  return Object.entries<DeclaredRecord>(declaredRecords)
    .filter(([, { owners }]) => owners.length > 0)
    .map(([name, { collection, owners, orphanedBy, removedLast }]) => ({
      collection,
      owners,
      orphanedBy,
      removedLast,
      records: all[name] as OwnedRecords,
    }))
}

/** What deletions remove of them: the records of each owner that goes. */
export function declaredStores(collections: Collections, transaction: RunInTransaction): Store[] {
  return declaredCollections(collections).map(({ collection, owners, records, removedLast }) => ({
    ...ownedStore(collection, records, owners, transaction),
    ...(removedLast === true ? { phase: 'owners' } : {}),
  }))
}
