import type { ProjectRole } from '../../domain/acting.ts'
import { invitationContract } from '../../domain/contracts/invitation.ts'
import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import {
  type LeavingRecord,
  type MemberRecord,
  type PrivateThreads,
  type ProjectRecord,
  memberLimits,
} from '../../domain/records/project.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { DerivedSecrets } from '../accounts/derived-secrets.ts'
import type { Collections } from '../collections.ts'
import type { Groups } from '../groups/index.ts'
import type { LeaveGroups } from '../groups/leave-groups.ts'
import type { GroupStore } from '../groups/store.ts'
import { type Grouped, lacking, memberOf, requireRole, roleIn } from '../owner.ts'
import { type Person, findPerson, personsOf } from '../persons/store.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { ChangeMembers } from './change-members.ts'
import type { Depart } from './depart.ts'
import { sharedProjectStore } from './store.ts'

/** Somebody who uses a project, as those see who use it too. */
export interface Member {
  id: string
  role: ProjectRole
  isActive: boolean
  createdAt: Date
  /** Of an invitation: when its link ends. */
  expiresAt?: Date
  /** Absent: invited, and has not accepted; or a group. */
  userId?: string
  /** All who are in it have the role. */
  group?: { id: string; name: string } | undefined
  /** Of one who was invited, that of the invitation; empty of a group. */
  email: string
  firstName?: string | undefined
  lastName?: string | undefined
}

/** What somebody is invited to. */
export interface Invitation {
  project: ProjectRecord
  holder: Person
  /** The role that is offered; of one who uses the project already, the own one. */
  role: ProjectRole
  isMember: boolean
  /** Absent: the invitation was accepted. */
  expiresAt?: Date
}

interface NewMember {
  email?: string
  user_id?: string
  /** The id of a group. */
  group?: string
  role: ProjectRole
}

interface MembersDeps {
  collections: Pick<Collections, 'projects' | 'users'>
  groups: Pick<Groups, 'known'>
  groupStore: Pick<GroupStore, 'findAll'>
  leaveGroups: Pick<LeaveGroups, 'groupLost'>
  changeMembers: ChangeMembers
  depart: Depart
  secrets: Pick<DerivedSecrets, 'isInvitationToken'>
  workflows: Pick<WorkflowClient, 'start'>
}

const dayMs = 24 * 3600_000

/** Who uses a project, who is invited to, and what each may do. */
export function createMembers(deps: MembersDeps) {
  const { collections, changeMembers, depart, secrets, workflows } = deps
  const { users } = collections
  const projects = sharedProjectStore(collections)

  async function read(projectId: string): Promise<ProjectRecord> {
    const project = await projects.findOfAny(projectId)
    if (project === null) throw noProject()
    return project
  }

  async function show(project: ProjectRecord): Promise<Member[]> {
    const members = [holderAsMember(project), ...standing(project.members)]
    const groupIds = members.flatMap(({ group_id: id }) => id ?? [])
    const [persons, groups] = await Promise.all([
      personsOf(
        users,
        members.flatMap(({ user_id: id }) => id ?? []),
      ),
      groupIds.length === 0 ? [] : deps.groupStore.findAll(groupIds),
    ])
    const names = new Map(groups.map(({ _id, name }) => [_id, name]))
    return members.map((member) =>
      member.group_id === undefined
        ? shown(member, persons.get(member.user_id ?? ''))
        : toGroupMember(member, { id: member.group_id, name: names.get(member.group_id) ?? '' }),
    )
  }

  async function memberOfId(project: ProjectRecord, memberId: string): Promise<Member> {
    const member = (await show(project)).find(({ id }) => id === memberId)
    if (member === undefined) throw noMember()
    return member
  }

  /** The account that is meant, if there is one; only its id is used until it has accepted. */
  async function meant({ email, user_id: userId }: NewMember): Promise<{ email: string; user: Person | undefined }> {
    if (email !== undefined) {
      const address = normalizeEmail(email)
      return { email: address, user: (await findPerson(users, { email: address })) ?? undefined }
    }
    const user = await findPerson(users, { _id: userId ?? '', deleting: { $ne: true } })
    // Nothing tells whether there is such an account: an invitation of nobody is never mailed.
    return { email: '', user: user ?? undefined }
  }

  /** Whoever is in the group uses the project at once, without an invitation. */
  async function addGroup(actor: Grouped, projectId: string, groupId: string, role: ProjectRole): Promise<Member> {
    await deps.groups.known(actor, groupId)
    const memberId = newId()
    const project = await changeMembers(projectId, (current) => {
      requireRole(current, actor, 'owner')
      const members = standing(current.members)
      if (members.some(({ group_id: id }) => id === groupId))
        throw new AppError('conflict', 'This group uses the project already.')
      requireRoom(members)
      const added: MemberRecord = { id: memberId, group_id: groupId, role, email: '', created_at: new Date() }
      return { members: [...members, added] }
    })
    return memberOfId(project, memberId)
  }

  return {
    /** The holder of the project first. Throws `forbidden` for somebody who does not use it. */
    async list(actor: Grouped, projectId: string): Promise<Member[]> {
      const project = await read(projectId)
      requireRole(project, actor, 'viewer')
      return show(project)
    },

    /**
     * Invites somebody, or sends the invitation again, with another link. Nothing tells whether the address, or the
     * id, has an account. Throws `conflict` for one who uses the project already.
     */
    async add(actor: Grouped, projectId: string, given: NewMember): Promise<Member> {
      requireRole(await read(projectId), actor, 'owner')
      if ([given.email, given.user_id, given.group].filter((one) => one !== undefined).length !== 1)
        throw invalidInput(['body', 'email'], 'exactly one of email, user_id and group is required', 'missing')
      if (given.group !== undefined) return addGroup(actor, projectId, given.group, given.role)
      const { email, user } = await meant(given)
      const now = new Date()
      let memberId = newId()
      let send = 1
      const project = await changeMembers(projectId, (current) => {
        requireRole(current, actor, 'owner')
        const members = standing(current.members, now)
        if (user !== undefined && usesItself({ ...current, members }, user._id))
          throw new AppError('conflict', 'This person uses the project already.')
        const isSame = ({ user_id: id, email: known, invitation }: MemberRecord) =>
          id === undefined &&
          invitation !== undefined &&
          (given.user_id === undefined ? known === email : invitation.for_user === given.user_id)
        const earlier = members.find(isSame)
        if (earlier === undefined) requireRoom(members)
        memberId = earlier?.id ?? newId()
        send = (earlier?.invitation?.send ?? 0) + 1
        const invited: MemberRecord = {
          id: memberId,
          role: given.role,
          email,
          invitation: {
            send,
            sent_at: now,
            expires_at: new Date(now.getTime() + memberLimits.invitationDays * dayMs),
            ...(given.user_id === undefined ? {} : { for_user: given.user_id }),
          },
          created_at: earlier?.created_at ?? now,
        }
        return { members: [...members.filter((member) => member !== earlier), invited] }
      })
      await workflows.start(invitationContract, { projectId, memberId, send, userId: project.user_id })
      return memberOfId(project, memberId)
    },

    /** Throws `conflict` for a change that would leave the project without an owner. */
    async setRole(actor: Grouped, projectId: string, memberId: string, role: ProjectRole): Promise<Member> {
      const project = await changeMembers(projectId, (current) => {
        requireRole(current, actor, 'owner')
        const members = standing(current.members)
        if (memberId === current.user_id && role !== 'owner') throw holderStays(members)
        if (memberId !== current.user_id && members.every(({ id }) => id !== memberId)) throw noMember()
        return { members: members.map((member) => (member.id === memberId ? { ...member, role } : member)) }
      })
      return memberOfId(project, memberId)
    },

    /**
     * Ends what somebody may do in the project, or revokes an invitation; members may leave. With the next request the
     * tokens of the project are refused; the runs of one who has left end. What is handed over goes to the owner who removes
     * him, or to the holder.
     */
    async remove(
      actor: Grouped,
      projectId: string,
      memberId: string,
      privateThreads: PrivateThreads = 'keep',
    ): Promise<void> {
      let left: LeavingRecord | undefined
      let leftGroup: string | undefined
      await changeMembers(projectId, (current) => {
        left = undefined
        const role = requireRole(current, actor, 'viewer')
        const members = standing(current.members)
        const isSelf =
          memberId === current.user_id ? actor._id === memberId : memberOf({ members }, actor._id)?.id === memberId
        if (role !== 'owner' && !isSelf) throw lacking(role, 'owner')
        if (memberId === current.user_id) throw holderStays(members)
        const leaving = members.find(({ id }) => id === memberId)
        if (leaving === undefined) throw noMember()
        const to = isSelf ? current.user_id : actor._id
        const { user_id: userId } = leaving
        left = userId === undefined ? undefined : { user_id: userId, private_threads: privateThreads, to }
        leftGroup = leaving.group_id
        return { members: members.filter((member) => member !== leaving), left, leftGroup }
      })
      if (left !== undefined) await depart(projectId, left)
      if (leftGroup !== undefined) await deps.leaveGroups.groupLost(projectId, leftGroup)
    },

    /**
     * What an invitation offers to its receiver. Throws as `accept` does, but tells one who uses the project already, also
     * by this invitation, that he does.
     */
    async invitation(user: UserRecord, token: string): Promise<Invitation> {
      const memberId = memberIdIn(token)
      const project = await projects.findByInvitationOfAny(memberId)
      const member = standing(project?.members).find(({ id }) => id === memberId)
      if (project === null || member === undefined) throw noInvitation()
      const { invitation } = member
      if (invitation === undefined) {
        if (member.user_id !== user._id) throw noInvitation()
      } else {
        if (!secrets.isInvitationToken({ memberId, send: invitation.send }, token)) throw noInvitation()
        if (!isFor(member, user)) throw forSomebodyElse()
      }
      const own = usesItself(project, user._id) ? roleIn(project, user) : undefined
      return {
        project,
        holder: (await personsOf(users, [project.user_id])).get(project.user_id) ?? { _id: project.user_id },
        role: own ?? member.role,
        isMember: own !== undefined,
        ...(invitation === undefined ? {} : { expiresAt: invitation.expires_at }),
      }
    },

    /**
     * Makes the receiver of an invitation a member, once. Throws `not_found` for a link that is wrong, used, revoked or too
     * old, and `forbidden` for somebody else than who was invited.
     */
    async accept(user: UserRecord, token: string): Promise<ProjectRecord> {
      const memberId = memberIdIn(token)
      const found = await projects.findByInvitationOfAny(memberId)
      if (found === null) throw noInvitation()
      return changeMembers(found._id, (current) => {
        const members = standing(current.members)
        const invited = members.find(({ id }) => id === memberId)
        if (invited?.invitation === undefined) throw noInvitation()
        if (!secrets.isInvitationToken({ memberId, send: invited.invitation.send }, token)) throw noInvitation()
        if (!isFor(invited, user)) throw forSomebodyElse()
        // Two invitations of one person make one member.
        if (usesItself({ ...current, members }, user._id))
          throw new AppError('conflict', 'You use this project already.')
        const { invitation: _used, ...member } = invited
        const accepted = { ...member, user_id: user._id, created_at: new Date() }
        return { members: members.map((one) => (one === invited ? accepted : one)), joined: user._id }
      })
    },
  }
}

/** The token of a link names the invitation before a dot. */
const memberIdIn = (token: string): string => token.split('.', 1)[0] ?? ''

/** Members, and invitations that are not too old. */
export function standing(members: MemberRecord[] = [], now = new Date()): MemberRecord[] {
  return members.filter(({ invitation }) => invitation === undefined || invitation.expires_at > now)
}

/** Beside what groups give him. */
function usesItself(project: Pick<ProjectRecord, 'user_id' | 'members'>, userId: string): boolean {
  return project.user_id === userId || memberOf(project, userId) !== undefined
}

function requireRoom(members: MemberRecord[]): void {
  if (members.length >= memberLimits.members)
    throw new AppError('conflict', `A project has at most ${memberLimits.members} members, groups and invitations.`)
}

/** The address must be confirmed: otherwise anybody could sign up with it. */
function isFor({ email, invitation }: MemberRecord, { _id, email: own, verified }: UserRecord): boolean {
  if (!verified) return false
  return invitation?.for_user === undefined ? own === email : invitation.for_user === _id
}

function holderAsMember({ user_id: holder, created_at }: ProjectRecord): MemberRecord {
  return { id: holder, user_id: holder, role: 'owner', email: '', created_at }
}

function shown(
  { id, user_id: userId, role, email, invitation, created_at: createdAt }: MemberRecord,
  person?: Person,
): Member {
  const common = { id, role, createdAt, ...(invitation === undefined ? {} : { expiresAt: invitation.expires_at }) }
  if (userId === undefined) return { ...common, isActive: false, email }
  return {
    ...common,
    isActive: true,
    userId,
    email: person?.email ?? '',
    firstName: person?.first_name,
    lastName: person?.last_name,
  }
}

function toGroupMember({ id, role, created_at: createdAt }: MemberRecord, group: { id: string; name: string }): Member {
  return { id, role, createdAt, isActive: true, email: '', group }
}

const noProject = () => new AppError('not_found', 'There is no such project.')
const noMember = () => new AppError('not_found', 'There is no such member.')
const noInvitation = () =>
  new AppError('not_found', 'This invitation was used or revoked, has expired, or never existed. Ask for a new one.')
const forSomebodyElse = () =>
  new AppError('forbidden', 'This invitation is for another address. Log in with it, and confirm it first.')

function holderStays(members: MemberRecord[]): AppError {
  const others = members.some(({ role, user_id: id }) => role === 'owner' && id !== undefined)
  return new AppError(
    'conflict',
    others
      ? 'The account of this owner holds the project: it stays an owner as long as the project is there.'
      : 'This is the last owner of the project, and one has to remain. Make somebody else an owner first.',
  )
}
