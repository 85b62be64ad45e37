/** What a member may do in a project that is shared, from the least to the most. */
export const projectRoles = ['viewer', 'member', 'editor', 'owner'] as const
export type ProjectRole = (typeof projectRoles)[number]

/** What an operation demands: a role, or that the project is held by the caller's own account. */
export type NeededRole = ProjectRole | 'holder'

/** The most that several roles allow; undefined of none. */
export function highestOf(roles: readonly ProjectRole[]): ProjectRole | undefined {
  return projectRoles.findLast((role) => roles.includes(role))
}

/** Whether who has the role may do what demands another. */
export function isEnough(role: ProjectRole, needed: ProjectRole): boolean {
  return projectRoles.indexOf(role) >= projectRoles.indexOf(needed)
}
