import type { ReadRecords } from '../domain/archive/items.ts'
import type { NewIds } from '../domain/archive/new-ids.ts'
import { AppError } from '../domain/errors.ts'
import type { RestoredKind } from '../domain/records/declared-records.ts'

/**
 * Stores a record of an archive in the user's account, under the id that `idOf` makes, unless an earlier import has. An
 * `AppError` below 500 is reported as the reason why the record was refused.
 */
export type Restore<K extends RestoredKind> = (
  userId: string,
  line: ReadRecords[K],
  idOf: NewIds,
) => Promise<'imported' | 'existing'>

/** How the records of every kind that a capability declares come out of an archive. */
export type Restores = { [K in RestoredKind]: Restore<K> }

/** Why a record of an archive is refused. */
export function refused(reason: string): AppError {
  return new AppError('bad_request', reason)
}
