import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { holdAssistant, holdProject, parentsRemain } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import { takePlace, takesPlace } from './quota.ts'

export interface NewThread {
  id: string
  userId: string
  projectId: string
  name: string
  metadataJson: string
  assistantId?: string | undefined
  /** Created by a public caller of the assistant: belongs to it, and does not count against the owner's quota. */
  public: boolean
  kind?: ThreadRecord['kind']
  vectorStores?: string[] | undefined
  codeFiles?: string[] | undefined
  container?: ThreadRecord['container']
  /** The threads above it, if an assistant answers another one in it. */
  askedFrom?: string[] | undefined
  pinned?: boolean
  tags?: string[]
  /** Counts although it is public: it comes with an archive, and anybody can write one. */
  counted?: boolean
  expiresAt?: Date | undefined
  /** Of a thread that comes with an archive; default: those of a new one. */
  earlier?: Pick<ThreadRecord, 'created_at' | 'updated_at' | 'last_outcome'>
}

/** The record has its own times. */
const asGiven = { timestamps: false } as const

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
  /** Many public callers must not compete for a write to their assistant's record. */
  async function createPublic(record: ThreadRecord): Promise<ThreadRecord> {
    await collections.threads.create([record], asGiven)
    if (await parentsRemain(collections, record)) return record
    await collections.threads.deleteOne({ _id: record._id })
    throw new AppError('not_found', 'There is no such assistant.')
  }

  /** Of a response or a stored completion that comes with an archive. */
  async function createUncounted(record: ThreadRecord): Promise<ThreadRecord> {
    await collections.threads.create([record], asGiven)
    const project = { _id: record.project_id, user_id: record.user_id, deleting: { $ne: true } }
    if ((await collections.projects.exists({ ...project, suspended: { $ne: true } })) !== null) return record
    await collections.threads.deleteOne({ _id: record._id })
    throw new AppError('forbidden', 'The project is not available.')
  }

  return async (thread: NewThread): Promise<ThreadRecord> => {
    const record = threadRecordOf(thread)
    if (!takesPlace(record)) return record.public ? createPublic(record) : createUncounted(record)
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
  if (takesPlace(record)) {
    const { user_id: userId, project_id: projectId, assistant_id: assistantId } = record
    await takePlace(collections, userId, session)
    await holdProject(collections, { projectId, userId }, session)
    if (record.public) await holdAssistant(collections, { assistantId, userId }, session)
  }
  await collections.threads.insertMany([record], { session, lean: true })
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
    ...(thread.askedFrom === undefined ? {} : { asked_from: thread.askedFrom }),
    ...(thread.pinned ? { pinned: true } : {}),
    ...(thread.tags?.length ? { tags: thread.tags } : {}),
    name: thread.name,
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
