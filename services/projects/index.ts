import type { NeededRole, ProjectRole } from '../../domain/acting.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { ProjectRecord } from '../../domain/records/project.ts'
import type { Collections } from '../collections.ts'
import { refusingTaken } from '../duplicate-key.ts'
import { type Grouped, requireRole, roleIn } from '../owner.ts'
import { lockUser } from '../parents.ts'
import { type Person, personsOf } from '../persons/store.ts'
import { projectStore } from '../stores/projects.ts'
import { userStore } from '../stores/users.ts'
import type { RunInTransaction } from '../transactions.ts'
import { sharedProjectStore } from './store.ts'

interface ProjectsDeps {
  collections: Pick<Collections, 'users' | 'projects'>
  transaction: RunInTransaction
}

const nameLimit = 100

export interface SeenProject {
  project: ProjectRecord
  /** Of the user who sees it. */
  role: ProjectRole
  holder: Person
}

/** The projects of a user. A name has 1 to 100 characters and is unique among its owner's projects. */
export function createProjects({ collections, transaction }: ProjectsDeps) {
  const projects = sharedProjectStore(collections)

  return {
    /** Those that the user holds, and those that others share with him; oldest first. */
    list: projects.list,

    /** Throws `not_found` for a missing project, and `forbidden` without the role that is needed. */
    read: requireProject,

    /**
     * The account of somebody who uses the project: of a member by his id there; of its holder, and of one who uses it by a
     * group only, by that of the account. Throws `not_found` for anybody else.
     */
    async userOfMember(project: ProjectRecord, memberId: string): Promise<string> {
      if (memberId === project.user_id) return memberId
      const member = project.members?.find(({ id }) => id === memberId)
      if (member?.user_id !== undefined) return member.user_id
      const user = await userStore(collections).findGrouped(memberId)
      if (member !== undefined || user === null || roleIn(project, user) === undefined)
        throw new AppError('not_found', 'There is no such member.')
      return user._id
    },

    /** The projects as the user sees them, with who holds each of them. */
    async seenBy(user: Grouped, found: ProjectRecord[]): Promise<SeenProject[]> {
      const holders = await personsOf(collections.users, [...new Set(found.map(({ user_id: holder }) => holder))])
      return found.map((project) => ({
        project,
        role: roleIn(project, user) ?? 'viewer',
        holder: holders.get(project.user_id) ?? { _id: project.user_id },
      }))
    },

    async create(
      userId: string,
      { name, description = '' }: { name: string; description?: string },
      projectId: string = newId(),
    ): Promise<ProjectRecord> {
      checkName(name)
      const now = new Date()
      const project: ProjectRecord = {
        _id: projectId,
        user_id: userId,
        name,
        description,
        created_at: now,
        updated_at: now,
      }
      await refusingTaken(
        () =>
          transaction(async (session) => {
            await lockUser(collections, userId, session)
            await projectStore(collections).add(project, session)
          }),
        nameTaken,
      )
      return project
    },

    /** Changes the given members. */
    async update(
      user: Grouped,
      projectId: string,
      { name, description }: { name?: string; description?: string },
    ): Promise<ProjectRecord> {
      await requireProject(user, projectId, 'owner')
      if (name !== undefined) checkName(name)
      const changes = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) }
      const updated = await refusingTaken(
        () => projects.change(user, projectId, { ...changes, updated_at: new Date() }),
        nameTaken,
      )
      if (updated === null) throw missing()
      return updated
    },
  }

  async function requireProject(user: Grouped, projectId: string, needed: NeededRole): Promise<ProjectRecord> {
    const project = await projects.findOfAny(projectId)
    if (project === null) throw missing()
    requireRole(project, user, needed)
    return project
  }
}

function missing(): AppError {
  return new AppError('not_found', 'There is no such project.')
}

function checkName(name: string): void {
  const length = Array.from(name).length
  if (name.trim() === '' || length > nameLimit) {
    throw new AppError('bad_request', `A project's name has 1 to ${nameLimit} characters.`)
  }
}

const nameTaken = () => new AppError('bad_request', 'You already have a project with this name.')
