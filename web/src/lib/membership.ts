import { texts } from '../texts/index.ts'
import { type Project, type Schemas, type Thread, useProjects } from './api.ts'
import { useSession } from './session.ts'

export type Role = Schemas['ProjectRole']
/** From the least to the most. */
export const roles = ['viewer', 'member', 'editor', 'owner'] as const satisfies Role[]

const t = texts.roles

/** The role as the page calls it. */
export const roleName = (role: Role): string => t.names[role]

export const isEnough = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed)

/** What the user may do in the project that is open. */
interface Membership {
  /** Undefined until it is known, and when the access has ended. */
  project: Project | undefined
  isHolder: boolean
  /** Whether the user does not use the project any more. */
  hasEnded: boolean
  /** Until the role is known, everything is offered: the service refuses by itself. */
  may: (needed: Role) => boolean
  /** Why something is not offered, in words; undefined if it is. */
  why: (needed: Role) => string | undefined
}

export function useMembership(): Membership {
  const projects = useProjects()
  const session = useSession()
  const project = projects.data?.find(({ project_id: id }) => id === session?.projectId)
  // A list that is being read may not have the project yet that was just made, or opened in another window.
  const hasEnded = projects.data !== undefined && !projects.isFetching && project === undefined
  const may = (needed: Role) => !hasEnded && (project === undefined || isEnough(project.role, needed))
  return {
    project,
    isHolder: project === undefined || project.owner.user_id === session?.userId,
    hasEnded,
    may,
    why: (needed) => {
      if (may(needed)) return undefined
      return project === undefined ? t.ended : t.needs(roleName(project.role), roleName(needed))
    },
  }
}

/** Whether the user made the chat: only then it can be renamed, shared and deleted. */
export function useIsOwn({ visibility, created_by: maker }: Pick<Thread, 'visibility' | 'created_by'>): boolean {
  const userId = useSession()?.userId
  return visibility === 'private' || maker?.user_id === userId
}
