import { type CleanupInput, type CleanupResult, cleanupContract } from '../../domain/contracts/cleanup.ts'
import { newId } from '../../domain/ids.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import type { PageRange } from '../page.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { systemStats } from './store.ts'
import { type UserSelection, createUserSelections } from './users.ts'

interface AdminDeps {
  collections: Collections
  workflows: Pick<WorkflowClient, 'start' | 'result'>
  /** How long a request waits for a result. */
  waitMs: number
}

interface UserCleanup {
  users: UserRecord[]
  total: number
  workflowId: string
}

const dayMs = 86_400_000

/** Statistics and clean-ups for operators. */
export function createAdmin({ collections, workflows, waitMs }: AdminDeps) {
  const selections = createUserSelections(collections)
  const select = (kind: UserSelection['kind'], minDaysOld: number): UserSelection => ({
    kind,
    before: new Date(Date.now() - minDaysOld * dayMs),
  })

  async function startCleanup(input: CleanupInput) {
    const key = { kind: input.kind, cleanupId: newId() }
    await workflows.start(cleanupContract, { ...input, ...key })
    return key
  }

  return {
    stats: () => systemStats(collections),

    inactiveUsers: (minDaysOld: number, range: PageRange) =>
      selections.list(select('inactive-users', minDaysOld), range),

    /**
     * Starts a clean-up and returns the users that it will delete. Users who become active or verified in the
     * meantime are kept.
     */
    async cleanUsers(
      kind: UserSelection['kind'],
      { minDaysOld, dryRun }: { minDaysOld: number; dryRun: boolean },
    ): Promise<UserCleanup> {
      const selection = select(kind, minDaysOld)
      const concerned = await selections.list(selection)
      const key = await startCleanup({ kind, dryRun, before: selection.before.toISOString() })
      return { ...concerned, workflowId: cleanupContract.id(key) }
    },

    /** Waits for the result for a limited time. */
    async cleanOrphans(dryRun: boolean): Promise<{ workflowId: string; result: CleanupResult | undefined }> {
      const key = await startCleanup({ kind: 'orphans', dryRun })
      const end = await workflows.result(cleanupContract, key, { waitMs })
      if (end.status === 'failed') throw end.cause
      return {
        workflowId: cleanupContract.id(key),
        result: end.status === 'completed' ? end.result : undefined,
      }
    },
  }
}
