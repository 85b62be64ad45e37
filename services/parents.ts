import type { ClientSession } from 'mongoose'
import { AppError } from '../domain/errors.ts'
import type { AssistantRecord } from '../domain/records/assistant.ts'
import type { ThreadRecord } from '../domain/records/thread.ts'
import type { Collections } from './collections.ts'
import { usedBy } from './membership.ts'

type HeldCollections = Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads'>

/**
 * Makes creations and deletions exclude each other: code that creates a record writes to its parent, in the same
 * transaction, under the condition that the parent exists and is not being deleted. The deletion marker is a write
 * to the same record, so a creation either came before it (and is deleted with the rest) or is refused. Deletions
 * mark from the top down, so the nearest parent is enough.
 */
export async function holdUser(
  { users }: Pick<HeldCollections, 'users'>,
  userId: string,
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await users.updateOne({ _id: userId, deleting: { $ne: true } }, touch, { session })
  if (matchedCount === 0) throw new AppError('forbidden', 'This account is being deleted.')
}

/** For its holder, and for a member. */
export async function holdProject(
  { projects }: Pick<HeldCollections, 'projects'>,
  { projectId, userId }: { projectId: string; userId: string },
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await projects.updateOne(
    { _id: projectId, ...usedBy(userId), deleting: { $ne: true }, suspended: { $ne: true } },
    touch,
    { session },
  )
  if (matchedCount === 0) throw new AppError('forbidden', 'The project is not available.')
}

export async function holdAssistant(
  { assistants }: Pick<HeldCollections, 'assistants'>,
  { assistantId, userId }: { assistantId?: string | undefined; userId: string },
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await assistants.updateOne(
    { _id: assistantId, user_id: userId, deleting: { $ne: true } },
    touch,
    { session },
  )
  if (matchedCount === 0) throw new AppError('not_found', 'There is no such assistant.')
}

export async function holdThread(
  { threads }: Pick<HeldCollections, 'threads'>,
  threadId: string,
  session: ClientSession,
): Promise<void> {
  const { matchedCount } = await threads.updateOne({ _id: threadId, deleting: { $ne: true } }, touch, { session })
  if (matchedCount === 0) throw new AppError('not_found', 'There is no such thread.')
}

/**
 * The alternative without a write to the parent, for which all creations below it would compete: store first, read
 * the parent afterwards, and remove the record if the parent is being deleted or suspended. Either the read sees the
 * marker, or the deletion or suspension that follows the marker sees the record. An assistant is marked after its project,
 * which so needs no look of its own.
 */
export async function parentsRemain(
  { projects, assistants }: Pick<HeldCollections, 'projects' | 'assistants'>,
  stored: { project_id: string; assistant_id?: string; public?: boolean; user_id?: string },
): Promise<boolean> {
  const usable = { deleting: { $ne: true }, suspended: { $ne: true } }
  const assistant = await assistants
    .findOne({ _id: stored.assistant_id, ...usable }, { project_id: 1, user_id: 1 })
    .lean<Pick<AssistantRecord, 'project_id' | 'user_id'>>()
  if (assistant === null || !(await mayAsk({ projects }, stored, assistant))) return false
  if (assistant.project_id === stored.project_id) return true
  // It has moved since it was read: what its public callers say moves with it, and this would stay behind.
  if (stored.public === true) return false
  return (await projects.exists({ _id: stored.project_id, ...usable })) !== null
}

/**
 * As `parentsRemain`, for a run: its thread as it is now, undefined if it is being deleted; and whether its assistant may
 * still be run. Not one statement with `$lookup`: the embedded database reads all assistants for that.
 */
export async function parentsOfRun(
  { threads, assistants, projects }: Pick<HeldCollections, 'threads' | 'assistants' | 'projects'>,
  run: { thread_id: string; assistant_id: string; user_id: string; public?: boolean },
): Promise<{ thread: Pick<ThreadRecord, 'last_seq' | 'last_entry_id'> | undefined; hasAssistant: boolean }> {
  const [thread, assistant] = await Promise.all([
    threads
      .findOne({ _id: run.thread_id, deleting: { $ne: true } }, { last_seq: 1, last_entry_id: 1 })
      .lean<Pick<ThreadRecord, 'last_seq' | 'last_entry_id'>>(),
    assistants
      .findOne(
        { _id: run.assistant_id, deleting: { $ne: true }, suspended: { $ne: true } },
        { user_id: 1, project_id: 1 },
      )
      .lean<Pick<AssistantRecord, 'user_id' | 'project_id'>>(),
  ])
  const hasAssistant = assistant !== null && (await mayAsk({ projects }, run, assistant))
  return { thread: thread ?? undefined, hasAssistant }
}

/** Whoever asks an assistant of somebody else's project uses that project: he may have been removed since the request. */
async function mayAsk(
  { projects }: Pick<HeldCollections, 'projects'>,
  run: { user_id?: string; public?: boolean },
  assistant: Pick<AssistantRecord, 'user_id' | 'project_id'>,
): Promise<boolean> {
  if (run.public === true || run.user_id === undefined || assistant.user_id === run.user_id) return true
  return (await projects.exists({ _id: assistant.project_id, ...usedBy(run.user_id) })) !== null
}

/** A real change: a write that changes nothing would not conflict with the deletion marker. */
const touch = { $inc: { holds: 1 } } as const
