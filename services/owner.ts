import { type NeededRole, type Person, type ProjectRole, highestOf, isEnough } from '../domain/acting.ts'
import { AppError } from '../domain/errors.ts'
import type { MemberRecord, ProjectRecord } from '../domain/records/project.ts'
import type { ThreadRecord } from '../domain/records/thread.ts'
import type { UserRecord } from '../domain/records/user.ts'
import { memberNamed } from './person-named.ts'

/** What tells who uses a project. */
export type Shared = Pick<ProjectRecord, 'user_id' | 'members'>
export const sharedMembers = { user_id: 1, members: 1 } as const

/** A user, with the groups through which he may use projects. */
export type Grouped = Pick<UserRecord, '_id' | 'group_ids' | 'claimed_group_ids'>
export const groupedMembers = { group_ids: 1, claimed_group_ids: 1 } as const

/** The ids of all groups in which a user is. */
export function groupsOf({ group_ids: ids = [], claimed_group_ids: claimed = [] }: Omit<Grouped, '_id'>): string[] {
  return claimed.length === 0 ? ids : [...new Set([...ids, ...claimed])]
}

/** Selects the projects that a user holds or is a member of, himself or by a group. */
export function usedBy(user: Grouped) {
  const groups = groupsOf(user)
  return { $or: [{ user_id: user._id }, { 'members.user_id': user._id }, ...byGroups(groups)] }
}

/** Selects projects of which nobody is a member, and no group: an invitation is no use yet. */
export const usedByNobodyElse = { members: { $not: { $elemMatch: { invitation: { $exists: false } } } } }

function byGroups(groups: string[]): { 'members.group_id': { $in: string[] } }[] {
  return groups.length === 0 ? [] : [{ 'members.group_id': { $in: groups } }]
}

/**
 * The highest of what the user was given himself and by his groups. Undefined for somebody who does not use the project:
 * a stranger, or one who has not accepted an invitation.
 */
export function roleIn({ user_id: holder, members = [] }: Shared, user: Grouped): ProjectRole | undefined {
  if (holder === user._id) return 'owner'
  const groups = groupsOf(user)
  const his = members.filter(
    ({ user_id: id, group_id: group }) => id === user._id || (group !== undefined && groups.includes(group)),
  )
  return highestOf(his.map(({ role }) => role))
}

/** As a member by himself; undefined for somebody who uses the project by a group only. */
export function memberOf({ members = [] }: Pick<ProjectRecord, 'members'>, userId: string): MemberRecord | undefined {
  return members.find((member) => member.user_id === userId)
}

/** Throws `forbidden`, with the role that is missing, for somebody who may not do what demands `needed`. */
export function requireRole(project: Shared, user: Grouped, needed: NeededRole): ProjectRole {
  const role = roleIn(project, user)
  if (role === undefined) throw new AppError('forbidden', 'This project belongs to another user.')
  checkRole({ role, isHolder: project.user_id === user._id }, needed)
  return role
}

/** Throws `forbidden`, with the role that is missing, for less than `needed`. */
export function checkRole({ role, isHolder }: { role: ProjectRole; isHolder: boolean }, needed: NeededRole): void {
  if (needed === 'holder' ? !isHolder : !isEnough(role, needed)) throw lacking(role, needed)
}

export function lacking(role: ProjectRole, needed: NeededRole): AppError {
  const demanded =
    needed === 'holder' ? 'only the owner whose account holds the project may do this' : `this needs the role ${needed}`
  return new AppError('forbidden', `Your role in this project is ${role}: ${demanded}.`)
}

/** Who calls, and in which project. */
export interface Caller {
  userId: string
  projectId: string
  /** The account that holds the project, if it shares it with the caller. */
  holderId?: string
  /** What the caller may do in that shared project; absent is the least. */
  role?: ProjectRole
  /** Others use the project too. */
  isShared?: boolean
  /** A member who makes something that is kept in the name of the holder. */
  makerId?: string
}

export type UserInProject = Pick<Caller, 'userId' | 'projectId'>

/**
 * Whose records a request may touch: those of an account in all of its projects, or those of one project that its holder
 * shares with the caller.
 */
export type Owner = string | UserInProject

/** The condition that a record is among them. */
export function ownFilter(owner: Owner): { user_id: string; project_id?: string } {
  return typeof owner === 'string' ? { user_id: owner } : { user_id: owner.userId, project_id: owner.projectId }
}

export function owns(owner: Owner, record: { user_id: string; project_id: string }): boolean {
  const { user_id: userId, project_id: projectId = record.project_id } = ownFilter(owner)
  return record.user_id === userId && record.project_id === projectId
}

/** Whose assistants and files the caller may touch. */
export function ownerOf({ userId, projectId, holderId }: Caller): Owner {
  return holderId === undefined ? userId : { userId: holderId, projectId }
}

/** In whose name what belongs to the project is kept. */
export function holderOf({ userId, projectId, holderId }: Caller): Pick<Caller, 'userId' | 'projectId' | 'makerId'> {
  return holderId === undefined ? { userId, projectId } : { userId: holderId, projectId, makerId: userId }
}

/** For whom a run of the caller works: a member is somebody else than the owner of the assistant, with facts of his own. */
export function personOf({ userId, holderId }: Pick<Caller, 'userId' | 'holderId'>): Person {
  return holderId === undefined ? 'owner' : memberNamed(userId)
}

/** The same on a thread: where others read along, nobody's own facts are offered. */
export function personAmong(
  caller: Pick<Caller, 'userId' | 'holderId'>,
  { visibility }: Pick<ThreadRecord, 'visibility'>,
  person: Person = personOf(caller),
): Person {
  return visibility === 'project' && person === 'owner' ? memberNamed(caller.userId) : person
}

/** Whether the caller may see and change what assistants are made of, and the files and vector stores of the project. */
export function mayEdit({ holderId, role = 'viewer' }: Caller): boolean {
  return holderId === undefined || isEnough(role, 'editor')
}

/**
 * For what a request that a member may make would change in the project beside: throws `forbidden` for less than an
 * editor.
 */
export function requireEditor(caller: Caller): void {
  if (!mayEdit(caller)) throw lacking(caller.role ?? 'viewer', 'editor')
}
