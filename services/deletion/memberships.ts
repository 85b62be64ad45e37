import { memberBudgetId } from '../../domain/records/budget.ts'
import type { MemberRecord } from '../../domain/records/project.ts'
import type { Collections } from '../collections.ts'
import { type Members, type Store, inBatches, sumOver } from '../owned-data/data-store.ts'
import type { RunInTransaction } from '../transactions.ts'
import { traceStore } from './store.ts'

interface MembershipDeps {
  collections: Pick<Collections, 'projects' | 'users' | 'budgets'>
  transaction: RunInTransaction
}

/**
 * What projects of others keep of a user: that he uses them, has used them, or is invited to. Projects that are being
 * deleted go whole.
 */
export function membershipStore({ collections, transaction }: MembershipDeps): Store {
  const store = traceStore(collections)

  /** The projects that name one of these users, and whom of their members. */
  async function naming(ids: string[]) {
    const emails = await store.emailsOf(ids, { verified: true })
    const isNamed = ({ user_id: id, email, invitation }: MemberRecord) =>
      ids.includes(id ?? invitation?.for_user ?? '') || emails.includes(email)
    return { found: await store.listNaming(ids, emails), isNamed }
  }

  /** Who uses projects by groups is not named there, and may have a budget. */
  async function removeBudgetsByGroups(ids: string[]): Promise<void> {
    for (const user of await store.listInGroups(ids)) {
      const used = await store.projectsByGroups(user)
      await store.removeBudgets(used.map((id) => memberBudgetId(id, user._id)))
    }
  }

  return {
    name: 'memberships',
    phase: 'contents',
    collections: [],
    deleteFor: ({ userIds }: Members) =>
      inBatches(userIds, async (ids) => {
        const { found, isNamed } = await naming(ids)
        for (const { _id } of found)
          await transaction(async (session) => {
            await store.removeFromProject(_id, ids, isNamed, session)
            await store.removeBudgets(
              ids.map((id) => memberBudgetId(_id, id)),
              session,
            )
          })
        await removeBudgetsByGroups(ids)
      }),
    countFor: ({ userIds }: Members) =>
      sumOver(userIds, async (ids) => {
        const { found, isNamed } = await naming(ids)
        const former = (users: string[] = []) => users.filter((id) => ids.includes(id))
        return found.reduce(
          (sum, { members = [], former_users: left }) => sum + members.filter(isNamed).length + former(left).length,
          0,
        )
      }),
  }
}
