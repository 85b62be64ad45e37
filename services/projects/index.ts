import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { NeededRole, ProjectRole } from '../../domain/project-roles.ts'
import type { ProjectRecord } from '../../domain/records/project.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { holdUser } from '../parents.ts'
import { requireRole, roleIn, usedBy } from '../membership.ts'
import { type Person, personsOf } from './members.ts'
import type { RunInTransaction } from '../transactions.ts'

interface ProjectsDeps {
  collections: Pick<Collections, 'users' | 'projects'>
  transaction: RunInTransaction
}

const present = { deleting: { $ne: true } } as const
const nameLimit = 100
/** A project without its description. */
const restBytes = 1000

export interface SeenProject {
  project: ProjectRecord
  /** Of the user who sees it. */
  role: ProjectRole
  holder: Person
}

/** The projects of a user. A name has 1 to 100 characters and is unique among its owner's projects. */
export function createProjects({ collections, transaction }: ProjectsDeps) {
  const { projects, users } = collections

  return {
    /** Those that the user holds, and those that others share with him; oldest first. */
    list: (userId: string, range: PageRange): Promise<Page<ProjectRecord>> =>
      readPage(
        projects
          .find({ ...usedBy(userId), ...present })
          .sort({ created_at: 1, _id: 1 })
          .lean<ProjectRecord>(),
        range,
        ({ description }) => Buffer.byteLength(description) + restBytes,
      ),

    /** Throws `not_found` for a missing project, and `forbidden` without the role that is needed. */
    read: requireProject,

    /** The projects as the user sees them, with who holds each of them. */
    async seenBy(userId: string, found: ProjectRecord[]): Promise<SeenProject[]> {
      const holders = await personsOf(users, [...new Set(found.map(({ user_id: holder }) => holder))])
      return found.map((project) => ({
        project,
        role: roleIn(project, userId) ?? 'viewer',
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
      await refusingTakenNames(() =>
        transaction(async (session) => {
          await holdUser(collections, userId, session)
          await projects.create([project], { session })
        }),
      )
      return project
    },

    /** Changes the given members. */
    async update(
      userId: string,
      projectId: string,
      { name, description }: { name?: string; description?: string },
    ): Promise<ProjectRecord> {
      await requireProject(userId, projectId, 'owner')
      if (name !== undefined) checkName(name)
      const changes = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) }
      const updated = await refusingTakenNames(() =>
        projects
          .findOneAndUpdate(
            { _id: projectId, ...usedBy(userId), ...present },
            { $set: { ...changes, updated_at: new Date() } },
            { returnDocument: 'after' },
          )
          .lean<ProjectRecord>(),
      )
      if (updated === null) throw missing()
      return updated
    },
  }

  async function requireProject(userId: string, projectId: string, needed: NeededRole): Promise<ProjectRecord> {
    const project = await projects.findOne({ _id: projectId, ...present }).lean<ProjectRecord>()
    if (project === null) throw missing()
    requireRole(project, userId, needed)
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

async function refusingTakenNames<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (isDuplicateKey(error)) throw new AppError('bad_request', 'You already have a project with this name.')
    throw error
  }
}
