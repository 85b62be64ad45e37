import type { CleanupResult } from '../../domain/contracts/cleanup.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import type { PageRange } from '../page.ts'
import type { CleanupWorkflows } from './cleanup-workflows.ts'
import { systemStats } from './stats.ts'
import { type UserSelection, createUserSelections } from './users.ts'

interface AdminDeps {
  collections: Collections
  workflows: CleanupWorkflows
}

export interface UserCleanup {
  users: UserRecord[]
  total: number
  workflowId: string
}

export type Admin = ReturnType<typeof createAdmin>

const dayMs = 86_400_000

/** What operators see and have done. */
export function createAdmin({ collections, workflows }: AdminDeps) {
  const selections = createUserSelections(collections)
  const select = (kind: UserSelection['kind'], minDaysOld: number): UserSelection => ({
    kind,
    before: new Date(Date.now() - minDaysOld * dayMs),
  })

  return {
    stats: () => systemStats(collections),

    inactiveUsers: (minDaysOld: number, range: PageRange) =>
      selections.list(select('inactive-users', minDaysOld), range),

    /** Starts a clean-up and says whom it concerns. Who is used or verified in between is left alone. */
    async cleanUsers(
      kind: UserSelection['kind'],
      { minDaysOld, dryRun }: { minDaysOld: number; dryRun: boolean },
    ): Promise<UserCleanup> {
      const selection = select(kind, minDaysOld)
      const concerned = await selections.list(selection)
      const { workflowId } = await workflows.start({ kind, dryRun, before: selection.before.toISOString() })
      return { ...concerned, workflowId }
    },

    /** Waits for the result for a bounded time. */
    async cleanOrphans(dryRun: boolean): Promise<{ workflowId: string; result: CleanupResult | undefined }> {
      const { workflowId } = await workflows.start({ kind: 'orphans', dryRun })
      return { workflowId, result: await workflows.resultOf(workflowId) }
    },
  }
}
