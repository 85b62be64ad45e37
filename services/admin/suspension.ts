import type { RunRecord } from '../../domain/records/run.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { updateAll } from '../owned-data/erase-all.ts'
import type { RunInTransaction } from '../transactions.ts'
import { noSuchUser } from './accounts.ts'

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
  const { users, projects, assistants } = collections

  return {
    /** Safe to repeat: it continues where an earlier attempt was interrupted. The first time and reason are kept. */
    async suspend(userId: string, reason: string): Promise<void> {
      const { matchedCount } = await users.updateOne(
        { _id: userId, suspended_at: { $exists: false } },
        { $set: { suspended_at: new Date(), suspension_reason: reason } },
      )
      if (matchedCount === 0) await requireUser(userId)
      await markMembers(userId)
      await cancelRuns(userId)
    },

    async restore(userId: string): Promise<void> {
      await requireUser(userId)
      await unmarkMembers(userId)
      // Last, so that a repetition of an interrupted restoration still finds the user suspended.
      await users.updateOne({ _id: userId }, { $unset: { suspended_at: 1, suspension_reason: 1 } })
    },
  }

  async function requireUser(userId: string): Promise<void> {
    const user = await users.findOne({ _id: userId }, { _id: 1 }).lean<Pick<UserRecord, '_id'>>()
    if (user === null) throw noSuchUser()
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

  /** Runs that wait for a person's decision are not ended: no decision is accepted until the user is restored. */
  async function cancelRuns(userId: string): Promise<void> {
    const working = { user_id: userId, status: { $in: ['pending' as const, 'running' as const] } }
    for (;;) {
      const found = await collections.runs.find(working).limit(batchSize).lean<RunRecord[]>()
      if (found.length === 0) return
      const rest = found.values()
      const cancelOneByOne = async () => {
        for (const run of rest) await runs.cancel(run)
      }
      await Promise.all(Array.from({ length: runsAtOnce }, cancelOneByOne))
    }
  }
}
