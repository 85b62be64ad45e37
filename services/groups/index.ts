import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import {
  type GroupAllowed,
  type GroupRecord,
  type GroupSource,
  everyone,
  groupLimits,
} from '../../domain/records/group.ts'
import { refusingTaken } from '../duplicate-key.ts'
import { type Grouped, groupsOf } from '../owner.ts'
import type { PageRange } from '../page.ts'
import type { AllowancesNow } from './allowances.ts'
import type { LeaveGroups } from './leave-groups.ts'
import type { GroupMember, GroupStore } from './store.ts'

interface GroupChange {
  name?: string
  listed?: boolean
  /** Null lifts what is there: for everybody, all is allowed then; for a group, nothing more than for everybody. */
  allowed?: { [K in keyof GroupAllowed]: string[] | null }
}

export type Groups = ReturnType<typeof createGroups>

/**
 * Groups of users. Who is in a group of operators, operators say; who is in one of a provider or of provisioning, only those
 * do, so that nobody gets into such a group by a name.
 */
export function createGroups(
  store: GroupStore,
  leaving: Pick<LeaveGroups, 'userLeft' | 'groupGone'>,
  allowances: Pick<AllowancesNow, 'forget'>,
) {
  async function required(groupId: string): Promise<GroupRecord> {
    const group = await store.find(groupId)
    if (group === null && groupId === everyone) return everybody()
    if (group === null) throw noSuchGroup()
    return group
  }

  async function ofOperators(groupId: string): Promise<GroupRecord> {
    const group = await required(groupId)
    if (group._id === everyone) throw new AppError('conflict', 'Everybody is in it, always.')
    if (group.source !== 'operator') throw new AppError('conflict', whoSays[group.source])
    return group
  }

  return {
    /** All, or those whose name contains the text. */
    list: (search: string | undefined, range: PageRange) => store.list(named(search), range),

    /** Those that a user may know: in which he is, and those that are listed for everybody. */
    listFor: (user: Grouped, search: string | undefined, range: PageRange) =>
      store.list({ ...named(search), $or: [{ _id: { $in: groupsOf(user) } }, { listed: true }] }, range),

    /** Throws `invalid_input` for one that the user may not know. */
    async known(user: Grouped, groupId: string): Promise<GroupRecord> {
      const group = await store.find(groupId)
      const isKnown = group !== null && (group.listed === true || groupsOf(user).includes(groupId))
      if (!isKnown) throw invalidInput(['body', 'group'], 'there is no such group that you can see', 'not_found')
      return group
    },

    read: required,

    async create({ name, listed, allowed }: GroupChange & { name: string }): Promise<GroupRecord> {
      const now = new Date()
      const group: GroupRecord = {
        _id: newId(),
        name: nameOf(name),
        source: 'operator',
        realm: '',
        key: keyOf(name),
        ...(listed === true ? { listed } : {}),
        ...(allowed === undefined ? {} : { allowed: given(allowed) }),
        created_at: now,
        updated_at: now,
      }
      await refusingTaken(() => store.create(group), taken)
      return group
    },

    /** Changes the given members. Of groups that operators did not make, only the name that is shown. */
    async update(groupId: string, { name, listed, allowed }: GroupChange): Promise<GroupRecord> {
      const group = await required(groupId)
      const $set: Record<string, unknown> = { updated_at: new Date() }
      const $unset: Record<string, 1> = {}
      if (name !== undefined) {
        if (groupId === everyone || group.source === 'scim')
          throw new AppError('conflict', 'This group keeps its name.')
        $set['name'] = nameOf(name)
        if (group.source === 'operator') $set['key'] = keyOf(name)
      }
      if (listed === true) $set['listed'] = true
      else if (listed === false) $unset['listed'] = 1
      for (const [kind, names] of Object.entries(allowed ?? {}))
        if (names === null) $unset[`allowed.${kind}`] = 1
        else if (names !== undefined) $set[`allowed.${kind}`] = names
      const change = { $set, ...(Object.keys($unset).length === 0 ? {} : { $unset }) }
      if (groupId === everyone) {
        const changed = await store.putEveryone(change, everybody())
        allowances.forget()
        return changed
      }
      const updated = await refusingTaken(() => store.update(groupId, change), taken)
      if (updated === null) throw noSuchGroup()
      return updated
    },

    /** With the roles that projects give to it. A group of a provider comes back when a login names it. */
    async remove(groupId: string): Promise<void> {
      if (groupId === everyone) throw new AppError('conflict', 'Everybody is in it, always.')
      const group = await required(groupId)
      if (group.source === 'scim') throw new AppError('conflict', whoSays.scim)
      await store.update(groupId, { $set: { deleting: true } })
      await leaving.groupGone(groupId)
    },

    async members(groupId: string, range: PageRange): Promise<{ members: GroupMember[]; total: number }> {
      await required(groupId)
      return store.members(groupId, range)
    },

    async addMember(groupId: string, userId: string): Promise<void> {
      await ofOperators(groupId)
      if (await store.enter(userId, groupId, groupLimits.ofUser)) return
      if ((await store.userWithGroups(userId)) === null)
        throw invalidInput(['body', 'user_id'], 'there is no such user', 'not_found')
      throw new AppError('conflict', `A user is in at most ${groupLimits.ofUser} groups.`)
    },

    async removeMember(groupId: string, userId: string): Promise<void> {
      await ofOperators(groupId)
      await store.leave([userId], groupId)
      await leaving.userLeft(userId)
    },
  }
}

const whoSays: Record<Exclude<GroupSource, 'operator'>, string> = {
  provider: 'The identity provider says who is in this group.',
  scim: 'Provisioning (SCIM) says who is in this group, and deletes it.',
}

const noSuchGroup = () => new AppError('not_found', 'There is no such group.')
const keyOf = (name: string) => name.trim().toLowerCase()

function nameOf(name: string): string {
  const trimmed = name.trim()
  if (trimmed === '') throw new AppError('bad_request', `A group's name has 1 to ${groupLimits.nameLength} characters.`)
  return trimmed
}

function given(allowed: NonNullable<GroupChange['allowed']>): GroupAllowed {
  return Object.fromEntries(Object.entries(allowed).filter(([, names]) => names !== null))
}

/** Before an operator has said anything, all is allowed. */
function everybody(): GroupRecord {
  const now = new Date()
  const fixed = { source: 'operator', realm: everyone, key: everyone } as const
  return { _id: everyone, name: 'Everyone', ...fixed, created_at: now, updated_at: now }
}

function named(search: string | undefined): object {
  const text = search?.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return text ? { name: { $regex: text, $options: 'i' } } : {}
}

const taken = () => new AppError('conflict', 'There is a group with this name already.')
