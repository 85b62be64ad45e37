import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { lockAssistant, lockProject, parentsRemain } from '../parents.ts'
import { projectStore } from '../stores/projects.ts'
import { threadStore } from '../stores/threads.ts'
import { userStore } from '../stores/users.ts'
import type { RunInTransaction } from '../transactions.ts'

interface NewThread {
  id: string
  userId: string
  projectId: string
  name: string
  provisionalName?: boolean
  metadataJson: string
  assistantId?: string | undefined
  /** Created by a public caller of the assistant: belongs to it, and does not count against the owner's quota. */
  public: boolean
  kind?: ThreadRecord['kind']
  vectorStores?: string[] | undefined
  codeFiles?: string[] | undefined
  container?: ThreadRecord['container']
  /** The threads above it, if an assistant answers another one in it. */
  parentThreads?: string[] | undefined
  pinned?: boolean
  archived?: boolean
  tags?: string[]
  folderId?: string | undefined
  visibility?: ThreadRecord['visibility']
  project_access?: ThreadRecord['project_access']
  /** Counts although it is public: it comes with an archive, and anybody can write one. */
  counted?: boolean
  expiresAt?: Date | undefined
  /** Of a thread that comes with an archive; default: those of a new one. */
  earlier?: Pick<ThreadRecord, 'created_at' | 'updated_at' | 'last_outcome'>
}

export type CreateThread = ReturnType<typeof createThreadCreation>

interface ThreadCreationDeps {
  collections: Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads'>
  transaction: RunInTransaction
}

/**
 * Creates a thread unless a parent is being deleted, and within its owner's quota if it counts against it. Throws
 * `forbidden` if the quota is used up or a parent is being deleted, and the database's duplicate key error if the
 * id is taken.
 */
export function createThreadCreation({ collections, transaction }: ThreadCreationDeps) {
  const threads = threadStore(collections)

  /** Many public callers must not compete for a write to their assistant's record. */
  async function createPublic(record: ThreadRecord): Promise<ThreadRecord> {
    await threads.add(record)
    if (await parentsRemain(collections, record)) return record
    await threads.remove(record)
    throw new AppError('not_found', 'There is no such assistant.')
  }

  /** Of a response or a stored completion that comes with an archive. */
  async function createUncounted(record: ThreadRecord): Promise<ThreadRecord> {
    await threads.add(record)
    if (await projectStore(collections).isUsable(record.user_id, record.project_id)) return record
    await threads.remove(record)
    throw new AppError('forbidden', 'The project is not available.')
  }

  return async (thread: NewThread): Promise<ThreadRecord> => {
    const record = threadRecordOf(thread)
    if (!countsInQuota(record)) return record.public ? createPublic(record) : createUncounted(record)
    await transaction((session) => insertThread(collections, record, session))
    return record
  }
}

/**
 * Stores a new thread in a transaction, within its owner's quota if it counts against it. Throws `forbidden` if the quota
 * is used up, or if the account or the project is being deleted.
 */
export async function insertThread(
  collections: Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads'>,
  record: ThreadRecord,
  session: ClientSession,
): Promise<void> {
  if (countsInQuota(record)) {
    const { user_id: userId, project_id: projectId, assistant_id: assistantId } = record
    await reserveThread(collections, userId, session)
    await lockProject(collections, { projectId, userId }, session)
    if (record.public) await lockAssistant(collections, { assistantId, userId }, session)
  }
  await threadStore(collections).addNew(record, session)
}

/** The stored form of a new thread. */
export function threadRecordOf(thread: NewThread): ThreadRecord {
  const now = new Date()
  return {
    _id: thread.id,
    user_id: thread.userId,
    project_id: thread.projectId,
    ...(thread.assistantId === undefined ? {} : { assistant_id: thread.assistantId }),
    ...(thread.kind === undefined ? {} : { kind: thread.kind }),
    ...(thread.earlier === undefined ? {} : { imported_at: new Date() }),
    ...(thread.vectorStores === undefined ? {} : { vector_stores: thread.vectorStores }),
    ...(thread.codeFiles?.length ? { code_files: thread.codeFiles } : {}),
    ...(thread.container === undefined ? {} : { container: thread.container }),
    ...(thread.parentThreads === undefined ? {} : { asked_from: thread.parentThreads }),
    ...(thread.pinned ? { pinned: true } : {}),
    ...(thread.archived ? { archived: true } : {}),
    ...(thread.tags?.length ? { tags: thread.tags } : {}),
    ...(thread.folderId === undefined ? {} : { folder_id: thread.folderId }),
    ...(thread.visibility === undefined ? {} : { visibility: thread.visibility }),
    ...(thread.project_access === undefined ? {} : { project_access: thread.project_access }),
    name: thread.name,
    ...(thread.provisionalName ? { provisional_name: true } : {}),
    metadata_json: thread.metadataJson,
    public: thread.public,
    ...(thread.counted === undefined ? {} : { counted: thread.counted }),
    ...(thread.expiresAt === undefined ? {} : { expires_at: thread.expiresAt }),
    last_outcome: 'none',
    has_system: false,
    created_at: now,
    updated_at: now,
    ...thread.earlier,
  }
}

/**
 * Counts a new thread against the user's quota, within the transaction that creates the thread, so that the counter
 * is exact after any crash. Throws `forbidden` if the quota is used up or the account is being deleted.
 */
async function reserveThread(
  collections: Pick<Collections, 'users'>,
  userId: string,
  session: ClientSession,
): Promise<void> {
  const taken = await userStore(collections).countThread(userId, session)
  if (taken === 'counted') return
  if (taken === 'deleting') throw new AppError('forbidden', 'This account is being deleted.')
  throw new AppError('forbidden', 'You have as many chats as you may have. Delete some, or ask the operator for more.')
}

/** Whether a thread counts against the quota of its owner. */
export function countsInQuota(thread: Pick<ThreadRecord, 'public' | 'counted'>): boolean {
  return thread.counted ?? !thread.public
}

/** Decrements the thread count, within the transaction that removes the threads. */
export async function releaseQuota(
  collections: Pick<Collections, 'users'>,
  { userId, places }: { userId: string; places: number },
  session: ClientSession,
): Promise<void> {
  if (places > 0) await userStore(collections).uncountThreads(userId, places, session)
}
