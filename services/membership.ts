import { AppError } from '../domain/errors.ts'
import { type NeededRole, type ProjectRole, isEnough } from '../domain/project-roles.ts'
import type { MemberRecord, ProjectRecord } from '../domain/records/project.ts'

/** What tells who uses a project. */
export type Shared = Pick<ProjectRecord, 'user_id' | 'members'>
export const sharedMembers = { user_id: 1, members: 1 } as const

/** Selects the projects that a user holds or is a member of. */
export const usedBy = (userId: string) => ({ $or: [{ user_id: userId }, { 'members.user_id': userId }] })

/** Undefined for somebody who does not use the project: a stranger, or one who has not accepted an invitation. */
export function roleIn({ user_id: holder, members = [] }: Shared, userId: string): ProjectRole | undefined {
  return holder === userId ? 'owner' : memberOf({ members }, userId)?.role
}

export function memberOf({ members = [] }: Pick<ProjectRecord, 'members'>, userId: string): MemberRecord | undefined {
  return members.find((member) => member.user_id === userId)
}

/** Throws `forbidden`, with the role that is missing, for somebody who may not do what demands `needed`. */
export function requireRole(project: Shared, userId: string, needed: NeededRole): ProjectRole {
  const role = roleIn(project, userId)
  if (role === undefined) throw new AppError('forbidden', 'This project belongs to another user.')
  checkRole({ role, isHolder: project.user_id === userId }, needed)
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
