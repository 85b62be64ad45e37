import { newId } from '../../domain/ids.ts'
import { AppError } from '../../domain/errors.ts'
import { type DefaultMember, type ProjectRecord, mainProjectName } from '../../domain/records/project.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { holdUser } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'

/** What a login returns: the `main` project with its default assistant and thread. */
export interface Home {
  projectId: string
  assistantId: string
  /** Empty if the thread quota is full and `main` has no thread. */
  threadId: string
}

/** What a home needs of assistants and threads. Creating one again under the same id has no effect. */
export interface HomeMembers {
  assistantExists(caller: { userId: string; projectId: string }, assistantId: string): Promise<boolean>
  createAssistant(caller: { userId: string; projectId: string }, assistantId: string): Promise<void>
  threadExists(caller: { userId: string; projectId: string }, threadId: string): Promise<boolean>
  /** False if the quota is full. */
  createThread(caller: { userId: string; projectId: string }, threadId: string, assistantId: string): Promise<boolean>
  newestThread(caller: { userId: string; projectId: string }): Promise<string | undefined>
}

interface HomeDeps {
  collections: Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads'>
  transaction: RunInTransaction
  members: HomeMembers
}

export type Homes = ReturnType<typeof createHomes>

/**
 * Creates what is missing of a user's home; simultaneous logins get the same one. An id is first reserved on the
 * project, then the record is created, and then it is marked as created. Any login may create a reserved record
 * that is not marked. A record that was created and is gone gets a new id; it is never restored.
 */
export function createHomes({ collections, transaction, members }: HomeDeps) {
  const { projects } = collections
  return { ensureMainProject, ensureHome }

  async function ensureHome(userId: string): Promise<Home> {
    const project = await ensureMainProject(userId)
    const caller = { userId, projectId: project._id }
    const assistantId = await ensureMember(project._id, 'default_assistant', {
      exists: (id) => members.assistantExists(caller, id),
      create: async (id) => {
        await members.createAssistant(caller, id)
        return true
      },
    })
    const threadId = await ensureMember(project._id, 'default_thread', {
      exists: (id) => members.threadExists(caller, id),
      create: (id) => members.createThread(caller, id, assistantId ?? ''),
    })
    return {
      projectId: project._id,
      assistantId: assistantId ?? '',
      threadId: threadId ?? (await members.newestThread(caller)) ?? '',
    }
  }

  /** Throws `forbidden` if the account is being deleted, `unavailable` while the previous `main` is being deleted. */
  async function ensureMainProject(userId: string): Promise<ProjectRecord> {
    const find = () => projects.findOne({ user_id: userId, name: mainProjectName }).lean<ProjectRecord>()
    if ((await find()) === null) await createMainProject(userId)
    const main = await find()
    if (main === null || main.deleting) {
      throw new AppError('unavailable', 'The main project is being deleted; try again soon.', { retryAfterSeconds: 2 })
    }
    return main
  }

  async function createMainProject(userId: string): Promise<void> {
    const now = new Date()
    const project = {
      _id: newId(),
      user_id: userId,
      name: mainProjectName,
      description: '',
      created_at: now,
      updated_at: now,
    }
    try {
      await transaction(async (session) => {
        await holdUser(collections, userId, session)
        await projects.create([project], { session })
      })
    } catch (error) {
      // Another login created it at the same time.
      if (!isDuplicateKey(error)) throw error
    }
  }

  async function ensureMember(
    projectId: string,
    field: 'default_assistant' | 'default_thread',
    { exists, create }: { exists: (id: string) => Promise<boolean>; create: (id: string) => Promise<boolean> },
  ): Promise<string | undefined> {
    for (let attempt = 0; attempt < 5; attempt++) {
      const project = await projects.findById(projectId).lean<ProjectRecord>()
      if (project === null) break
      const member = project[field]
      if (member?.made && (await exists(member.id))) return member.id
      const reserved: DefaultMember = member && !member.made ? member : { id: newId(), made: false }
      if (reserved !== member) {
        const unchanged = member ? { [`${field}.id`]: member.id } : { [field]: { $exists: false } }
        const { modifiedCount } = await projects.updateOne(
          { _id: projectId, ...unchanged },
          { $set: { [field]: reserved } },
        )
        if (modifiedCount === 0) continue
      }
      if (!(await create(reserved.id))) return undefined
      await projects.updateOne({ _id: projectId, [`${field}.id`]: reserved.id }, { $set: { [`${field}.made`]: true } })
      return reserved.id
    }
    throw new AppError('conflict', 'The main project changed at the same time; try again.')
  }
}
