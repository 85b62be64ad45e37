import type { Person } from '../domain/acting.ts'
import { type ProjectRole, isEnough } from '../domain/project-roles.ts'
import type { ThreadRecord } from '../domain/records/thread.ts'
import { lacking } from './membership.ts'
import { memberNamed } from './person-named.ts'

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

/**
 * Whose records a request may touch: those of an account in all of its projects, or those of one project that its holder
 * shares with the caller.
 */
export type Owner = string | { userId: string; projectId: string }

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

/** For what a request that a member may make would change in the project beside: throws `forbidden` for less than an editor. */
export function requireEditor(caller: Caller): void {
  if (!mayEdit(caller)) throw lacking(caller.role ?? 'viewer', 'editor')
}
