import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { isJsonObject } from '../../domain/json.ts'
import { type GroupRecord, groupLimits } from '../../domain/records/group.ts'
import type { ScimFilter } from '../../domain/scim/filter.ts'
import { type PatchOperation, impliedBy, isChosen, memberOf } from '../../domain/scim/patch.ts'
import { ScimError } from '../../domain/scim/scim-error.ts'
import { scimLimits, textOf } from '../../domain/scim/user.ts'
import { refusingTaken } from '../duplicate-key.ts'
import type { LeaveGroups } from '../groups/leave-groups.ts'
import type { GroupStore } from '../groups/store.ts'
import type { PageRange } from '../page.ts'
import { type Among, groupConditions, toConditions, userConditions } from './filters.ts'
import type { ScimStore } from './store.ts'

export interface SeenGroup {
  id: string
  displayName: string
  externalId?: string
  members: { id: string; name: string }[]
  createdAt: Date
  updatedAt: Date
}

/** A group as POST and PUT bring it. */
interface ScimGroup {
  displayName: string
  externalId?: string
  members: string[]
}

interface ScimGroupsDeps {
  store: ScimStore
  groups: Pick<GroupStore, 'create' | 'update' | 'enter' | 'leave'>
  leaveGroups: Pick<LeaveGroups, 'userLeft' | 'groupGone'>
}

/** The groups of provisioning: no others are seen or changed. */
export function createScimGroups({ store, groups: all, leaveGroups }: ScimGroupsDeps) {
  async function required(id: string): Promise<GroupRecord> {
    const group = await store.findGroup(id)
    if (group === null) throw new AppError('not_found', 'There is no such group.')
    return group
  }

  async function seen(group: GroupRecord, withMembers = true): Promise<SeenGroup> {
    const members = withMembers ? await store.membersOf(group._id, scimLimits.members) : []
    return {
      id: group._id,
      displayName: group.name,
      ...(group.external_id === undefined ? {} : { externalId: group.external_id }),
      members: members.map(({ _id, email, scim }) => ({ id: _id, name: scim?.shown_name ?? email ?? _id })),
      createdAt: group.created_at,
      updatedAt: group.updated_at,
    }
  }

  async function requireUsers(ids: string[]): Promise<void> {
    if (ids.length > scimLimits.members)
      throw new ScimError('invalidValue', `A group has at most ${scimLimits.members} members in one request.`)
    const known = new Set(await store.findManaged(ids))
    const unknown = ids.find((id) => !known.has(id))
    if (unknown !== undefined) throw new ScimError('invalidValue', `There is no user ${unknown.slice(0, 128)}.`)
  }

  async function enter(groupId: string, ids: string[]): Promise<void> {
    for (const id of ids)
      if (!(await all.enter(id, groupId, groupLimits.ofUser)))
        throw new ScimError('invalidValue', `A user is in at most ${groupLimits.ofUser} groups.`)
  }

  async function leave(groupId: string, ids: string[]): Promise<void> {
    if (ids.length === 0) return
    await all.leave(ids, groupId)
    for (const id of ids) await leaveGroups.userLeft(id)
  }

  async function setMembers(groupId: string, wanted: string[]): Promise<void> {
    const wantedIds = new Set(wanted)
    const now = new Set((await store.membersOf(groupId, scimLimits.members)).map(({ _id }) => _id))
    await leave(
      groupId,
      [...now].filter((id) => !wantedIds.has(id)),
    )
    await enter(
      groupId,
      wanted.filter((id) => !now.has(id)),
    )
  }

  async function describe(groupId: string, { displayName, externalId }: Pick<ScimGroup, 'displayName' | 'externalId'>) {
    const change = {
      $set: {
        name: displayName,
        key: displayName.toLowerCase(),
        updated_at: new Date(),
        ...(externalId === undefined ? {} : { external_id: externalId }),
      },
      ...(externalId === undefined ? { $unset: { external_id: 1 } } : {}),
    }
    const updated = await refusingTaken(() => all.update(groupId, change), taken)
    if (updated === null) throw new AppError('not_found', 'There is no such group.')
  }

  return {
    async list(
      filter: ScimFilter | undefined,
      range: PageRange,
      { withMembers, amongAll = false }: Among & { withMembers: boolean },
    ) {
      const others = amongAll ? userConditions : undefined
      const conditions = filter === undefined ? {} : toConditions(filter, groupConditions, others)
      const { groups: found, total } = await store.listGroups(conditions, range)
      const shown: SeenGroup[] = []
      for (const group of found) shown.push(await seen(group, withMembers))
      return { groups: shown, total }
    },

    read: async (id: string, withMembers: boolean): Promise<SeenGroup> => seen(await required(id), withMembers),

    async create(body: unknown): Promise<SeenGroup> {
      const { displayName, externalId, members } = readGroup(body)
      await requireUsers(members)
      const now = new Date()
      const group: GroupRecord = {
        _id: newId(),
        name: displayName,
        source: 'scim',
        realm: '',
        key: displayName.toLowerCase(),
        ...(externalId === undefined ? {} : { external_id: externalId }),
        created_at: now,
        updated_at: now,
      }
      await refusingTaken(() => all.create(group), taken)
      await enter(group._id, members)
      return seen(group)
    },

    async replace(id: string, body: unknown): Promise<SeenGroup> {
      await required(id)
      const given = readGroup(body)
      await requireUsers(given.members)
      await describe(id, given)
      await setMembers(id, given.members)
      return seen(await required(id))
    },

    async patch(id: string, operations: readonly PatchOperation[]): Promise<SeenGroup> {
      const group = await required(id)
      const { name: displayName, external_id: externalId } = group
      const next = { displayName, ...(externalId === undefined ? {} : { externalId }) }
      for (const operation of operations) {
        const { op, path, value } = operation
        switch (path.attribute.toLowerCase()) {
          case 'displayname': {
            const name = op === 'remove' ? undefined : textOf(value, 'displayName')
            if (name === undefined) throw new ScimError('mutability', 'displayName cannot be removed.')
            next.displayName = name
            break
          }
          case 'externalid': {
            const external = op === 'remove' ? undefined : textOf(value, 'externalId')
            if (external === undefined) delete next.externalId
            else next.externalId = external
            break
          }
          case 'members':
            await patchMembers(id, operation)
            break
          case 'id':
          case 'meta':
            throw new ScimError('mutability', `${path.attribute} cannot be changed.`)
          case 'schemas':
            break
          default:
            if (!/^urn:/i.test(path.attribute))
              throw new ScimError('invalidPath', `There is no attribute ${path.attribute.slice(0, 100)}.`)
        }
      }
      await describe(id, next)
      return seen(await required(id))
    },

    /** With the roles that projects give to it. */
    async remove(id: string): Promise<void> {
      await required(id)
      await all.update(id, { $set: { deleting: true } })
      await leaveGroups.groupGone(id)
    },
  }

  /** Entra ID removes by values, Okta by a filter in the path. */
  async function patchMembers(groupId: string, { op, path: { chosen }, value }: PatchOperation): Promise<void> {
    if (op !== 'remove') {
      const ids = chosen === undefined ? idsOf(value) : idsOf([impliedBy(chosen)])
      await requireUsers(ids)
      return op === 'add' || chosen !== undefined ? enter(groupId, ids) : setMembers(groupId, ids)
    }
    const named = value === undefined || value === null ? undefined : new Set(idsOf(value))
    const members = await store.membersOf(groupId, scimLimits.members)
    const gone = members.filter(({ _id }) =>
      chosen === undefined ? (named?.has(_id) ?? true) : isChosen({ value: _id }, chosen),
    )
    return leave(
      groupId,
      gone.map(({ _id }) => _id),
    )
  }
}

function readGroup(body: unknown): ScimGroup {
  if (!isJsonObject(body)) throw new ScimError('invalidSyntax', 'The body must be an object.')
  const displayName = textOf(memberOf(body, 'displayName'), 'displayName')?.trim()
  if (!displayName) throw new ScimError('invalidValue', 'displayName is required.')
  const externalId = textOf(memberOf(body, 'externalId'), 'externalId')
  const members = memberOf(body, 'members')
  return {
    displayName,
    ...(externalId === undefined ? {} : { externalId }),
    members: members === undefined || members === null ? [] : idsOf(members),
  }
}

function idsOf(given: unknown): string[] {
  const list: unknown[] = Array.isArray(given) ? given : [given]
  const ids = list.map((one) => {
    const id = typeof one === 'string' ? one : isJsonObject(one) ? memberOf(one, 'value') : undefined
    if (typeof id !== 'string' || id === '') throw new ScimError('invalidValue', 'members must name users by value.')
    return id
  })
  return [...new Set(ids)]
}

const taken = () => new ScimError('uniqueness', 'There is a group with this name already.')
