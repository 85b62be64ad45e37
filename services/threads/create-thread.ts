import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { holdAssistant, holdProject } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import { takePlace } from './quota.ts'

export interface NewThread {
  id: string
  userId: string
  projectId: string
  name: string
  metadataJson: string
  assistantId?: string | undefined
  /** Made by a public caller of the assistant: belongs to it, and takes no place of the owner's quota. */
  public: boolean
}

export type CreateThread = ReturnType<typeof createThreadCreation>

interface ThreadCreationDeps {
  collections: Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads'>
  transaction: RunInTransaction
}

/**
 * Makes a thread under its fences, and within its owner's quota unless it is public. Throws
 * `forbidden` when the quota is used up or a parent is being deleted, and the database's duplicate
 * key error when the id is taken.
 */
export function createThreadCreation({ collections, transaction }: ThreadCreationDeps) {
  return async (thread: NewThread): Promise<ThreadRecord> => {
    const now = new Date()
    const record: ThreadRecord = {
      _id: thread.id,
      user_id: thread.userId,
      project_id: thread.projectId,
      ...(thread.assistantId === undefined ? {} : { assistant_id: thread.assistantId }),
      name: thread.name,
      metadata_json: thread.metadataJson,
      public: thread.public,
      last_outcome: 'none',
      created_at: now,
      updated_at: now,
    }
    return transaction(async (session) => {
      if (!thread.public) await takePlace(collections, thread.userId, session)
      await holdProject(collections, thread, session)
      if (thread.public && thread.assistantId !== undefined)
        await holdAssistant(collections, thread.assistantId, session)
      await collections.threads.create([record], { session })
      return record
    })
  }
}
