import type { RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { updateAll } from '../owned-data/erase-all.ts'
import { closeUnusedProjects } from '../projects/store.ts'
import type { RunInTransaction } from '../transactions.ts'
import { noSuchUser } from './accounts.ts'
import { operatedRunStore, operatedUserStore } from './store.ts'

interface SuspensionDeps {
  collections: Pick<Collections, 'users' | 'projects' | 'assistants' | 'runs'>
  transaction: RunInTransaction
  runs: { cancel(run: RunRecord): Promise<unknown> }
}

const runsAtOnce = 10
const batchSize = 200

/**
 * Suspends and restores users. The suspension in the user's record makes every token and login fail. Copies on the
 * user's projects and assistants make requests of public callers fail, and writes of requests that were admitted a
 * moment before; no run needs an additional statement for this.
 */
export function createSuspension({ collections, transaction, runs }: SuspensionDeps) {
  const { projects, assistants } = collections
  const accounts = operatedUserStore(collections)

  return {
    /** Safe to repeat: it continues where an earlier attempt was interrupted. The first time and reason are kept. */
    async suspend(userId: string, reason: string): Promise<void> {
      if (!(await accounts.suspendOfAny(userId, reason))) await requireUser(userId)
      await markMembers(userId)
      await cancelRuns(userId)
    },

    async restore(userId: string): Promise<void> {
      await requireUser(userId)
      await unmarkMembers(userId)
      await closeAgain(userId)
      // Last, so that a repetition of an interrupted restoration still finds the user suspended.
      await accounts.restoreOfAny(userId)
    },
  }

  async function requireUser(userId: string): Promise<void> {
    if (!(await accounts.existsOfAny(userId))) throw noSuchUser()
  }

  /**
   * Projects first: a creation also writes to its project, so it either precedes the suspension, and its record is
   * suspended too, or it is refused.
   */
  async function markMembers(userId: string): Promise<void> {
    const open = { user_id: userId, suspended: { $ne: true } }
    const mark = { $set: { suspended: true } }
    await updateAll(transaction, projects, open, mark)
    await updateAll(transaction, assistants, open, mark)
  }

  async function unmarkMembers(userId: string): Promise<void> {
    const marked = { user_id: userId, suspended: true } as const
    const unmark = { $unset: { suspended: 1 } }
    await updateAll(transaction, assistants, marked, unmark)
    await updateAll(transaction, projects, marked, unmark)
  }

  /** Provisioning may have deactivated him meanwhile: what nobody else uses then stays closed. */
  async function closeAgain(userId: string): Promise<void> {
    if (await accounts.isDeactivatedOfAny(userId))
      await closeUnusedProjects({ projects, assistants }, transaction, userId)
  }

  /** Runs that wait for a person's decision are not ended: no decision is accepted until the user is restored. */
  async function cancelRuns(userId: string): Promise<void> {
    for (;;) {
      const found = await operatedRunStore(collections).listWorkingOfAny(userId, batchSize)
      if (found.length === 0) return
      const rest = found.values()
      const cancelOneByOne = async () => {
        for (const run of rest) await runs.cancel(run)
      }
      await Promise.all(Array.from({ length: runsAtOnce }, cancelOneByOne))
    }
  }
}
