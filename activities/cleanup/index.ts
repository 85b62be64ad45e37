import type { CleanupKind } from '../../domain/contracts/cleanup.ts'
import type { OwnedTarget } from '../../domain/contracts/deletion.ts'
import type { Orphans } from '../../services/admin/orphans.ts'
import type { UserSelections } from '../../services/admin/users.ts'
import { translateErrors } from '../durable.ts'

export interface CleanupActivityDeps {
  selections: UserSelections
  orphans: Orphans
}

/** The side effects of the `cleanup` workflow. Only `removeOrphans` changes anything. */
export function createCleanupActivities({ selections, orphans }: CleanupActivityDeps) {
  return {
    findUsers: translateErrors(
      ({
        kind,
        before,
        after,
        limit,
      }: {
        kind: Exclude<CleanupKind, 'orphans'>
        before: string
        after?: string
        limit: number
      }) => selections.idsAfter({ kind, before: new Date(before) }, after, limit),
    ),
    findOwnerless: translateErrors((_input: object): Promise<OwnedTarget[]> => orphans.targets()),
    countOrphans: translateErrors((_input: object) => orphans.count()),
    removeOrphans: translateErrors((_input: object) => orphans.remove()),
  }
}
