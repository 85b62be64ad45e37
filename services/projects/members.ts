import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { ProjectRole } from '../../domain/project-roles.ts'
import { type MemberRecord, type ProjectRecord, memberLimits } from '../../domain/records/project.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import { invitationContract } from '../../domain/contracts/invitation.ts'
import type { DerivedSecrets } from '../accounts/derived-secrets.ts'
import type { Collections } from '../collections.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { ChangeMembers } from './change-members.ts'
import type { Depart } from './depart.ts'
import { lacking, memberOf, requireRole, roleIn } from '../membership.ts'

/** Somebody who uses a project, as those see who use it too. */
export interface Member {
  id: string
  role: ProjectRole
  isActive: boolean
  createdAt: Date
  /** Absent: invited, and has not accepted. */
  userId?: string
  /** Of one who was invited, that of the invitation. */
  email: string
  firstName?: string | undefined
  lastName?: string | undefined
}

export interface NewMember {
  email?: string
  user_id?: string
  role: ProjectRole
}

interface MembersDeps {
  collections: Pick<Collections, 'projects' | 'users'>
  changeMembers: ChangeMembers
  depart: Depart
  secrets: Pick<DerivedSecrets, 'isInvitationToken'>
  workflows: Pick<WorkflowClient, 'start'>
}

/** What those who use a project with somebody see of him. */
export type Person = Pick<UserRecord, '_id' | 'email' | 'first_name' | 'last_name'>
const shownOfPersons = { email: 1, first_name: 1, last_name: 1 } as const
const dayMs = 24 * 3600_000

/** By their ids; who is gone is left out. */
export async function personsOf(users: Collections['users'], ids: string[]): Promise<Map<string, Person>> {
  const found = await users.find({ _id: { $in: ids } }, shownOfPersons).lean<Person[]>()
  return new Map(found.map((person) => [person._id, person]))
}

/** Who uses a project, who is invited to, and what each may do. */
export function createMembers({ collections, changeMembers, depart, secrets, workflows }: MembersDeps) {
  const { projects, users } = collections

  async function read(projectId: string): Promise<ProjectRecord> {
    const project = await projects.findOne({ _id: projectId, deleting: { $ne: true } }).lean<ProjectRecord>()
    if (project === null) throw noProject()
    return project
  }

  async function show(project: ProjectRecord): Promise<Member[]> {
    const members = [holderAsMember(project), ...standing(project.members)]
    const persons = await personsOf(
      users,
      members.flatMap(({ user_id: id }) => id ?? []),
    )
    return members.map((member) => shown(member, persons.get(member.user_id ?? '')))
  }

  async function showOne(project: ProjectRecord, memberId: string): Promise<Member> {
    const member = (await show(project)).find(({ id }) => id === memberId)
    if (member === undefined) throw noMember()
    return member
  }

  /** The account that is meant, if there is one; only its id is used until it has accepted. */
  async function meant({ email, user_id: userId }: NewMember): Promise<{ email: string; user: Person | undefined }> {
    if ((email === undefined) === (userId === undefined))
      throw invalidInput(['body', 'email'], 'exactly one of email and user_id is required', 'missing')
    if (email !== undefined) {
      const address = normalizeEmail(email)
      const user = await users.findOne({ email: address }, shownOfPersons).lean<Person>()
      return { email: address, user: user ?? undefined }
    }
    const user = await users.findOne({ _id: userId, deleting: { $ne: true } }, shownOfPersons).lean<Person>()
    if (user === null) throw invalidInput(['body', 'user_id'], 'there is no such user', 'not_found')
    if (user.email === undefined)
      throw invalidInput(['body', 'user_id'], 'this user has no address to which an invitation could be sent')
    return { email: '', user }
  }

  return {
    /** The holder of the project first. Throws `forbidden` for somebody who does not use it. */
    async list(userId: string, projectId: string): Promise<Member[]> {
      const project = await read(projectId)
      requireRole(project, userId, 'viewer')
      return show(project)
    },

    /**
     * Invites somebody, or sends the invitation again, with another link. Nothing tells whether the address has an
     * account. Throws `conflict` for one who uses the project already.
     */
    async add(actorId: string, projectId: string, given: NewMember): Promise<Member> {
      requireRole(await read(projectId), actorId, 'owner')
      const { email, user } = await meant(given)
      const now = new Date()
      let memberId = newId()
      let send = 1
      const project = await changeMembers(projectId, (current) => {
        requireRole(current, actorId, 'owner')
        const members = standing(current.members, now)
        if (user !== undefined && roleIn({ ...current, members }, user._id) !== undefined)
          throw new AppError('conflict', 'This person uses the project already.')
        const isSame = ({ user_id: id, email: known, invitation }: MemberRecord) =>
          id === undefined && (given.user_id === undefined ? known === email : invitation?.for_user === given.user_id)
        const earlier = members.find(isSame)
        if (earlier === undefined && members.length >= memberLimits.members)
          throw new AppError('conflict', `A project has at most ${memberLimits.members} members and invitations.`)
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
      return showOne(project, memberId)
    },

    /** Throws `conflict` for a change that would leave the project without an owner. */
    async setRole(actorId: string, projectId: string, memberId: string, role: ProjectRole): Promise<Member> {
      const project = await changeMembers(projectId, (current) => {
        requireRole(current, actorId, 'owner')
        const members = standing(current.members)
        if (memberId === current.user_id && role !== 'owner') throw holderStays(members)
        if (memberId !== current.user_id && members.every(({ id }) => id !== memberId)) throw noMember()
        return { members: members.map((member) => (member.id === memberId ? { ...member, role } : member)) }
      })
      return showOne(project, memberId)
    },

    /**
     * Ends what somebody may do in the project, or revokes an invitation; members may leave. With the next request the
     * tokens of the project are refused; the runs of one who has left end.
     */
    async remove(actorId: string, projectId: string, memberId: string): Promise<void> {
      let left: string | undefined
      await changeMembers(projectId, (current) => {
        left = undefined
        const role = requireRole(current, actorId, 'viewer')
        const members = standing(current.members)
        const isSelf =
          memberId === current.user_id ? actorId === memberId : memberOf({ members }, actorId)?.id === memberId
        if (role !== 'owner' && !isSelf) throw lacking(role, 'owner')
        if (memberId === current.user_id) throw holderStays(members)
        const leaving = members.find(({ id }) => id === memberId)
        if (leaving === undefined) throw noMember()
        left = leaving.user_id
        return { members: members.filter((member) => member !== leaving), left }
      })
      if (left !== undefined) await depart({ projectId, userId: left })
    },

    /**
     * Makes the receiver of an invitation a member, once. Throws `not_found` for a link that is wrong, used, revoked or too
     * old, and `forbidden` for somebody else than who was invited.
     */
    async accept(user: UserRecord, token: string): Promise<ProjectRecord> {
      const [memberId = ''] = token.split('.', 1)
      const found = await projects
        .findOne({ 'members.id': memberId, deleting: { $ne: true } }, { _id: 1 })
        .lean<Pick<ProjectRecord, '_id'>>()
      if (found === null) throw noInvitation()
      return changeMembers(found._id, (current) => {
        const members = standing(current.members)
        const invited = members.find(({ id }) => id === memberId)
        if (invited?.invitation === undefined) throw noInvitation()
        if (!secrets.isInvitationToken({ memberId, send: invited.invitation.send }, token)) throw noInvitation()
        if (!isFor(invited, user)) throw forSomebodyElse()
        // Two invitations of one person make one member.
        if (roleIn({ ...current, members }, user._id) !== undefined)
          throw new AppError('conflict', 'You use this project already.')
        const { invitation: _used, ...member } = invited
        const accepted = { ...member, user_id: user._id, created_at: new Date() }
        return { members: members.map((one) => (one === invited ? accepted : one)), joined: user._id }
      })
    },
  }
}

/** Members, and invitations that are not too old. */
export function standing(members: MemberRecord[] = [], now = new Date()): MemberRecord[] {
  return members.filter(({ invitation }) => invitation === undefined || invitation.expires_at > now)
}

/** The address must be confirmed: otherwise anybody could sign up with it. */
function isFor({ email, invitation }: MemberRecord, { _id, email: own, verified }: UserRecord): boolean {
  if (!verified) return false
  return invitation?.for_user === undefined ? own === email : invitation.for_user === _id
}

function holderAsMember({ user_id: holder, created_at }: ProjectRecord): MemberRecord {
  return { id: holder, user_id: holder, role: 'owner', email: '', created_at }
}

function shown({ id, user_id: userId, role, email, created_at: createdAt }: MemberRecord, person?: Person): Member {
  const common = { id, role, createdAt }
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
