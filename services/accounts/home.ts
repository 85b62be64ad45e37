import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type DefaultMember, type ProjectRecord, mainProjectName } from '../../domain/records/project.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'
import { lockUser } from '../parents.ts'
import { projectStore } from '../stores/projects.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type DefaultField, homeStore } from './store.ts'

/** What a login returns: the `main` project with its default assistant and thread. */
export interface Home {
  projectId: string
  assistantId: string
  /** Empty if the thread quota is full and `main` has no thread. */
  threadId: string
}

/** What a home needs of assistants and threads. Creating one again under the same id has no effect. */
export interface HomeMembers {
  hasAssistant(caller: { userId: string; projectId: string }, assistantId: string): Promise<boolean>
  createAssistant(caller: { userId: string; projectId: string }, assistantId: string): Promise<void>
  hasThread(caller: { userId: string; projectId: string }, threadId: string): Promise<boolean>
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
  const homes = homeStore(collections)
  return { ensureMainProject, ensureHome }

  async function ensureHome(userId: string): Promise<Home> {
    const project = await ensureMainProject(userId)
    const caller = { userId, projectId: project._id }
    const assistantId = await ensureMember(caller, 'default_assistant', {
      exists: (id) => members.hasAssistant(caller, id),
      create: async (id) => {
        await members.createAssistant(caller, id)
        return true
      },
    })
    const threadId = await ensureMember(caller, 'default_thread', {
      exists: (id) => members.hasThread(caller, id),
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
    if ((await homes.findMain(userId)) === null) await createMainProject(userId)
    const main = await homes.findMain(userId)
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
    const made = transaction(async (session) => {
      await lockUser(collections, userId, session)
      await projectStore(collections).add(project, session)
    })
    // Another login may create it at the same time.
    await isNew(made)
  }

  async function ensureMember(
    { userId, projectId }: { userId: string; projectId: string },
    field: DefaultField,
    { exists, create }: { exists: (id: string) => Promise<boolean>; create: (id: string) => Promise<boolean> },
  ): Promise<string | undefined> {
    for (let attempt = 0; attempt < 5; attempt++) {
      const project = await homes.find(userId, projectId)
      if (project === null) break
      const member = project[field]
      if (member?.made && (await exists(member.id))) return member.id
      const reserved: DefaultMember = member && !member.made ? member : { id: newId(), made: false }
      if (reserved !== member && !(await homes.reserve(projectId, field, member, reserved))) continue
      if (!(await create(reserved.id))) return undefined
      await homes.noteMade(projectId, field, reserved.id)
      return reserved.id
    }
    throw new AppError('conflict', 'The main project changed at the same time; try again.')
  }
}
