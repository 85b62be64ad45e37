import { addAll } from '../../domain/add-all.ts'
import { type ClaimedNames, realmOf } from '../../domain/claimed-groups.ts'
import { newId } from '../../domain/ids.ts'
import { type GroupRecord, groupLimits } from '../../domain/records/group.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import { isNew } from '../duplicate-key.ts'
import type { LeaveGroups } from './leave-groups.ts'
import type { GroupStore } from './store.ts'

export type NoteClaims = ReturnType<typeof createNoteClaims>

/**
 * Puts a user into the groups that his identity provider names, and takes him out of those that it does not name any more.
 * A group that is named for the first time is made; it is one of that provider and that claim, whatever groups of the same
 * name others have.
 */
export function createNoteClaims(
  store: GroupStore,
  leaving: Pick<LeaveGroups, 'userLeft'>,
  onError: (error: unknown) => void,
) {
  async function groupsNamed(realm: string, names: string[]): Promise<string[]> {
    const known = new Map((await store.ofClaim(realm, names)).map(({ key, _id }) => [key, _id]))
    const missing = names.filter((name) => !known.has(name))
    if (missing.length > 0) {
      const room = groupLimits.claimed - (await store.countOf('provider'))
      if (room < missing.length) onError(new Error(`identity providers have named ${groupLimits.claimed} groups`))
      for (const name of missing.slice(0, Math.max(0, room))) await make(realm, name)
      for (const { key, _id } of await store.ofClaim(realm, missing)) known.set(key, _id)
    }
    return names.flatMap((name) => known.get(name) ?? [])
  }

  async function make(realm: string, name: string): Promise<void> {
    const now = new Date()
    const group: GroupRecord = {
      _id: newId(),
      name,
      source: 'provider',
      realm,
      key: name,
      created_at: now,
      updated_at: now,
    }
    // Another login may be first.
    await isNew(store.create(group))
  }

  return async (user: Pick<UserRecord, '_id' | 'claimed_group_ids'>, issuer: string, claimed: ClaimedNames) => {
    const ids: string[] = []
    for (const [claim, names] of claimed) addAll(ids, await groupsNamed(realmOf(issuer, claim), names))
    const { claimed_group_ids: before = [] } = user
    const left = before.filter((id) => !ids.includes(id))
    if (left.length === 0 && ids.length === before.length) return
    await store.claim(user._id, ids, left)
    await leaving.userLeft(user._id)
  }
}
