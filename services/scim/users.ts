import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { LoginProvider, LoginProviders } from '../../domain/login-providers.ts'
import type { ScimRecord, UserRecord } from '../../domain/records/user.ts'
import type { ScimFilter } from '../../domain/scim/filter.ts'
import type { PatchOperation } from '../../domain/scim/patch.ts'
import { ScimError } from '../../domain/scim/scim-error.ts'
import { type GivenScimUser, type ScimUser, addressOf, patchScimUser } from '../../domain/scim/user.ts'
import { refusingTaken } from '../duplicate-key.ts'
import type { LeaveGroups } from '../groups/leave-groups.ts'
import type { GroupStore } from '../groups/store.ts'
import type { PageRange } from '../page.ts'
import type { Deactivation } from './deactivation.ts'
import { type Among, groupConditions, toConditions, userConditions } from './filters.ts'
import type { ScimStore } from './store.ts'

/** A user as provisioning sees him. */
export interface SeenUser extends ScimUser {
  id: string
  groups: { id: string; name: string }[]
  createdAt: Date
  updatedAt: Date
}

interface ScimUsersDeps {
  store: ScimStore
  groups: Pick<GroupStore, 'findAll' | 'leave'>
  leaveGroups: Pick<LeaveGroups, 'userLeft'>
  deactivation: Pick<Deactivation, 'deactivate' | 'activate'>
  providers: Pick<LoginProviders, 'speaksFor'>
  /** Through which its users log in; undefined if the settings name none. */
  provider: LoginProvider | undefined
  providerId: string
  threadMaxDefault: number
}

/** The users of provisioning: those that it has made, and those that log in through its provider. */
export function createScimUsers(deps: ScimUsersDeps) {
  const { store, deactivation } = deps

  async function required(id: string): Promise<UserRecord> {
    const user = await store.find(id)
    if (user === null) throw new AppError('not_found', 'There is no such user.')
    return user
  }

  async function seen(found: UserRecord[]): Promise<SeenUser[]> {
    const ids = [...new Set(found.flatMap(({ group_ids: groups = [] }) => groups))]
    const groups = ids.length === 0 ? [] : await deps.groups.findAll(ids)
    const named = new Map(groups.filter(({ source }) => source === 'scim').map(({ _id, name }) => [_id, name]))
    return found.map((user) => ({
      ...asScim(user),
      id: user._id,
      groups: (user.group_ids ?? []).flatMap((id) => {
        const name = named.get(id)
        return name === undefined ? [] : [{ id, name }]
      }),
      createdAt: user.scim?.created_at ?? user.created_at,
      updatedAt: user.scim?.updated_at ?? user.created_at,
    }))
  }

  const seenOne = async (user: UserRecord): Promise<SeenUser> => {
    const [one] = await seen([user])
    if (one === undefined) throw new AppError('internal', 'the user was not shown')
    return one
  }

  /** Provisioning gives nobody an address for which its own provider does not speak. */
  function addressFor(user: GivenScimUser): string | undefined {
    const address = addressOf(user)
    if (address === undefined) return undefined
    const email = normalizeEmail(address)
    if (deps.provider !== undefined && !deps.providers.speaksFor(deps.provider, email))
      throw new ScimError('invalidValue', 'The domain of the address belongs to another login provider, or to none.')
    return email
  }

  function membersOf(user: GivenScimUser, earlier: UserRecord | undefined) {
    const now = new Date()
    const email = addressFor(user)
    const scim: ScimRecord = {
      user_name: user.userName.toLowerCase(),
      shown_name: user.userName,
      ...(user.externalId === undefined ? {} : { external_id: user.externalId }),
      ...(user.displayName === undefined ? {} : { display_name: user.displayName }),
      emails: user.emails.map(({ value, type, primary }) => ({
        value,
        ...(type === undefined ? {} : { kind: type }),
        ...(primary === undefined ? {} : { primary }),
      })),
      provider: earlier?.scim?.provider ?? deps.providerId,
      created_at: earlier?.scim?.created_at ?? now,
      updated_at: now,
    }
    return { email, scim, first_name: user.givenName, last_name: user.familyName }
  }

  async function write(earlier: UserRecord, user: GivenScimUser): Promise<SeenUser> {
    const members = membersOf(user, earlier)
    const $set = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
    const gone = Object.entries(members).filter(([, value]) => value === undefined)
    const $unset = Object.fromEntries(gone.map(([name]) => [name, 1]))
    const change = { $set, ...(gone.length === 0 ? {} : { $unset }) }
    const stored = await refusingTaken(() => store.update(earlier._id, change), taken)
    if (stored === null) throw new AppError('not_found', 'There is no such user.')
    const isActive = stored.deactivated_at === undefined
    if (isActive && user.active === false) await deactivation.deactivate(stored._id)
    if (!isActive && user.active === true) await deactivation.activate(stored._id, stored.suspended_at !== undefined)
    return seenOne(await required(stored._id))
  }

  return {
    async list(
      filter: ScimFilter | undefined,
      range: PageRange,
      { amongAll = false }: Among = {},
    ): Promise<{ users: SeenUser[]; total: number }> {
      const others = amongAll ? groupConditions : undefined
      const conditions = filter === undefined ? {} : toConditions(filter, userConditions, others)
      const { users, total } = await store.list(conditions, range)
      return { users: await seen(users), total }
    },

    read: async (id: string): Promise<SeenUser> => seenOne(await required(id)),

    /** Throws `uniqueness` if the name or the address has an account. One that was deleted here comes back. */
    async create(user: GivenScimUser): Promise<SeenUser> {
      const deleted = await store.findDeleted(user.userName.toLowerCase())
      if (deleted !== null) return write(deleted, { active: true, ...user })
      const now = new Date()
      const { email, scim, first_name: firstName, last_name: lastName } = membersOf(user, undefined)
      const record: UserRecord = {
        _id: newId(),
        ...(email === undefined ? {} : { email }),
        provider: 'social',
        ...(firstName === undefined ? {} : { first_name: firstName }),
        ...(lastName === undefined ? {} : { last_name: lastName }),
        verified: true,
        thread_counter: 0,
        thread_max: deps.threadMaxDefault,
        created_at: now,
        last_active_at: now,
        scim,
      }
      await refusingTaken(() => store.create(record), taken)
      if (user.active === false) await deactivation.deactivate(record._id)
      return seenOne(await required(record._id))
    },

    replace: async (id: string, user: GivenScimUser): Promise<SeenUser> => write(await required(id), user),

    async patch(id: string, operations: readonly PatchOperation[]): Promise<SeenUser> {
      const user = await required(id)
      return write(user, patchScimUser(asScim(user), operations))
    },

    /** The account stays, deactivated and out of its groups, until an operator deletes it: what is in it may be needed. */
    async remove(id: string): Promise<void> {
      const user = await required(id)
      await deactivation.deactivate(id)
      for (const { _id, source } of await deps.groups.findAll(user.group_ids ?? []))
        if (source === 'scim') await deps.groups.leave([id], _id)
      await deps.leaveGroups.userLeft(id)
      const { scim } = membersOf(asScim(user), user)
      await store.update(id, { $set: { scim: { ...scim, deleted: true } } })
    },
  }
}

function asScim(user: UserRecord): ScimUser {
  const { scim, email, first_name: givenName, last_name: familyName } = user
  return {
    userName: scim?.shown_name ?? email ?? user._id,
    ...(scim?.external_id === undefined ? {} : { externalId: scim.external_id }),
    ...(scim?.display_name === undefined ? {} : { displayName: scim.display_name }),
    ...(givenName === undefined ? {} : { givenName }),
    ...(familyName === undefined ? {} : { familyName }),
    emails:
      scim === undefined
        ? email === undefined
          ? []
          : [{ value: email, primary: true }]
        : scim.emails.map(({ value, kind, primary }) => ({
            value,
            ...(kind === undefined ? {} : { type: kind }),
            ...(primary === undefined ? {} : { primary }),
          })),
    active: user.deactivated_at === undefined,
  }
}

const taken = () => new ScimError('uniqueness', 'There is an account with this name or address already.')
