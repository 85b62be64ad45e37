import type { DeclaredRecord } from '../../domain/records/declared-record.ts'
import { declaredRecords } from '../../domain/records/declared-records.ts'
import type { DeclaredCollections } from '../collections.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { Store } from './data-store.ts'
import { type OwnedRecords, ownedStore } from './owned-store.ts'

/** The collections of the declared records that go with an owner, each with the members by which its records name their owners. */
export function declaredCollections(collections: DeclaredCollections): (Pick<
  DeclaredRecord,
  'collection' | 'owners' | 'orphanedBy'
> & {
  records: OwnedRecords
})[] {
  const all: Record<string, unknown> = { ...collections }
  return Object.entries<DeclaredRecord>(declaredRecords)
    .filter(([, { owners }]) => owners.length > 0)
    .map(([name, { collection, owners, orphanedBy }]) => ({
      collection,
      owners,
      ...(orphanedBy === undefined ? {} : { orphanedBy }),
      records: all[name] as OwnedRecords,
    }))
}

/** What deletions remove of them: the records of each owner that goes. */
export function declaredStores(collections: DeclaredCollections, transaction: RunInTransaction): Store[] {
  return declaredCollections(collections).map(({ collection, owners, records }) =>
    ownedStore(collection, records, owners, transaction),
  )
}
