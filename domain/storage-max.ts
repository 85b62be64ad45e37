import type { UserRecord } from './records/user.ts'

/** How many megabytes the files of a user may take together. `fallback` is for users without a limit of their own. */
export function storageMaxMbOf(
  user: Pick<UserRecord, 'storage_max_mb'>,
  fallback: number | undefined,
): number | undefined {
  return user.storage_max_mb ?? fallback
}
