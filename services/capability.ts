import type { ArchivedName, ArchivedRecords } from '../domain/records/declared-records.ts'
import type { NewIds } from '../domain/archive/new-ids.ts'

/**
 * Stores a record of an archive in the user's account, under the id that `idOf` makes, unless an earlier import has. An
 * `AppError` below 500 is reported as the reason why the record was refused.
 */
export type Restore<K extends ArchivedName> = (
  userId: string,
  line: ArchivedRecords[K],
  idOf: NewIds,
) => Promise<'imported' | 'existing'>

/** How the records of every declared kind come out of an archive. */
export type Restores = { [K in ArchivedName]: Restore<K> }
