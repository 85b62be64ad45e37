import type { ClientSession } from 'mongoose'
import { AppError } from '../domain/errors.ts'
import type { AssistantRecord } from '../domain/records/assistant.ts'
import type { ThreadRecord } from '../domain/records/thread.ts'
import type { Collections } from './collections.ts'
import { type Grouped, groupsOf } from './owner.ts'
import { assistantStore } from './stores/assistants.ts'
import { projectStore } from './stores/projects.ts'
import { threadStore } from './stores/threads.ts'
import { userStore } from './stores/users.ts'

type ParentCollections = Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads'>

/**
 * Makes creations and deletions exclude each other: code that creates a record writes to its parent, in the same
 * transaction, under the condition that the parent exists and is not being deleted. The deletion marker is a write
 * to the same record, so a creation either came before it (and is deleted with the rest) or is refused. Deletions
 * mark from the top down, so the nearest parent is enough.
 */
export async function lockUser(
  collections: Pick<ParentCollections, 'users'>,
  userId: string,
  session: ClientSession,
): Promise<void> {
  if (!(await userStore(collections).lock(userId, session)))
    throw new AppError('forbidden', 'This account is being deleted.')
}

/** For its holder, and for a member, also by a group. */
export async function lockProject(
  collections: Pick<ParentCollections, 'users' | 'projects'>,
  { projectId, userId }: { projectId: string; userId: string },
  session: ClientSession,
): Promise<void> {
  const projects = projectStore(collections)
  const isLocked = await forUser(collections, userId, session, (user) => projects.lock(user, projectId, session))
  if (!isLocked) throw new AppError('forbidden', 'The project is not available.')
}

/** What holds for a project that the user uses; his groups are only read if he does not use it by himself. */
async function forUser(
  collections: Pick<ParentCollections, 'users'>,
  userId: string,
  session: ClientSession | undefined,
  lock: (user: Grouped) => Promise<boolean>,
): Promise<boolean> {
  if (await lock({ _id: userId })) return true
  const user = await userStore(collections).findGrouped(userId, session)
  return user !== null && groupsOf(user).length > 0 && lock(user)
}

export async function lockAssistant(
  collections: Pick<ParentCollections, 'assistants'>,
  { assistantId, userId }: { assistantId?: string | undefined; userId: string },
  session: ClientSession,
): Promise<void> {
  if (assistantId === undefined || !(await assistantStore(collections).lock(userId, assistantId, session)))
    throw new AppError('not_found', 'There is no such assistant.')
}

export async function lockThread(
  collections: Pick<ParentCollections, 'threads'>,
  threadId: string,
  session: ClientSession,
  of: { user_id?: string } = {},
): Promise<void> {
  if (!(await threadStore(collections).lock(threadId, session, of)))
    throw new AppError('not_found', 'There is no such thread.')
}

/**
 * The alternative without a write to the parent, for which all creations below it would compete: store first, read
 * the parent afterwards, and remove the record if the parent is being deleted or suspended. Either the read sees the
 * marker, or the deletion or suspension that follows the marker sees the record. An assistant is marked after its project,
 * which so needs no look of its own.
 */
export async function parentsRemain(
  collections: Pick<ParentCollections, 'users' | 'projects' | 'assistants'>,
  stored: { project_id: string; assistant_id?: string; public?: boolean; user_id?: string },
): Promise<boolean> {
  const assistant =
    stored.assistant_id === undefined
      ? null
      : await assistantStore(collections).findUsableLocationOfAny(stored.assistant_id)
  if (assistant === null || !(await mayUseAssistant(collections, stored, assistant))) return false
  if (assistant.project_id === stored.project_id) return true
  // It has moved since it was read: what its public callers say moves with it, and this would stay behind.
  if (stored.public === true) return false
  return projectStore(collections).isUsableOfAny(stored.project_id)
}

/**
 * As `parentsRemain`, for a run: its thread as it is now, undefined if it is being deleted; and whether its assistant may
 * still be run. Not one statement with `$lookup`: the embedded database reads all assistants for that.
 */
export async function parentsOfRun(
  collections: ParentCollections,
  run: { thread_id: string; assistant_id: string; user_id: string; public?: boolean; in_chat_of_other?: boolean },
): Promise<{ thread: Pick<ThreadRecord, 'last_seq' | 'last_entry_id'> | undefined; hasAssistant: boolean }> {
  const [thread, assistant] = await Promise.all([
    threadStore(collections).findNewest(run.thread_id, { byOthers: run.in_chat_of_other === true }),
    assistantStore(collections).findUsableLocationOfAny(run.assistant_id),
  ])
  const hasAssistant = assistant !== null && (await mayUseAssistant(collections, run, assistant))
  return { thread: thread ?? undefined, hasAssistant }
}

/** Whoever asks an assistant of somebody else's project uses that project: he may have been removed since the request. */
async function mayUseAssistant(
  collections: Pick<ParentCollections, 'users' | 'projects'>,
  run: { user_id?: string; public?: boolean },
  assistant: Pick<AssistantRecord, 'user_id' | 'project_id'>,
): Promise<boolean> {
  if (run.public === true || run.user_id === undefined || assistant.user_id === run.user_id) return true
  const projects = projectStore(collections)
  return forUser(collections, run.user_id, undefined, (user) => projects.isUsedBy(user, assistant.project_id))
}
