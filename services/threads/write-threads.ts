import { AppError } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/free-form.ts'
import { isAssistant } from '../../domain/records/assistant.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { type Owner, ownerOf, owns } from '../owner.ts'
import type { CreateThread } from './create-thread.ts'
import { type ThreadReads, type ThreadWithStatus, missing, present } from './read-threads.ts'

export interface ThreadChanges {
  name?: string
  /** Null removes the assistant. */
  assistant_id?: string | null
  metadata?: Record<string, unknown>
  pinned?: boolean
  tags?: string[]
}

interface NewThread extends ThreadChanges {
  /** In no list, and deleted after a day. */
  temporary?: boolean
}

interface ThreadWritesDeps {
  collections: Pick<Collections, 'threads' | 'assistants'>
  createThread: CreateThread
  withStatus: ThreadReads['withStatus']
}

const defaultName = 'New thread'
const temporaryMs = 24 * 3600_000

export function createThreadWrites({ collections, createThread, withStatus }: ThreadWritesDeps) {
  const { threads, assistants } = collections

  return {
    /** Under a new id. */
    create: insert,

    /** Changes the given members, or creates the thread in the token's project under the id that the caller chose. */
    async put(caller: Caller, threadId: string, changes: ThreadChanges): Promise<ThreadWithStatus> {
      const updated = await update(caller, threadId, changes)
      if (updated) return withStatus(updated)
      return insert(caller, threadId, changes).catch(async (error: unknown) => {
        if (!isDuplicateKey(error)) throw error
        const again = await update(caller, threadId, changes)
        if (again) return withStatus(again)
        throw missing()
      })
    },
  }

  async function insert(
    caller: Caller,
    threadId: string,
    { temporary = false, ...changes }: NewThread,
  ): Promise<ThreadWithStatus> {
    const { assistant_id: assistantId, ...fields } = await fieldsOf(ownerOf(caller), changes)
    const thread = await createThread({
      id: threadId,
      ...caller,
      name: fields.name ?? defaultName,
      metadataJson: fields.metadata_json ?? '{}',
      assistantId: assistantId ?? undefined,
      public: false,
      expiresAt: temporary ? new Date(Date.now() + temporaryMs) : undefined,
      ...markOf(changes),
    })
    return { ...thread, status: 'idle' }
  }

  async function update(caller: Caller, threadId: string, changes: ThreadChanges): Promise<ThreadRecord | null> {
    const own = { _id: threadId, user_id: caller.userId, ...present }
    if ((await threads.exists(own)) === null) return null
    const { assistant_id: assistantId, ...fields } = await fieldsOf(ownerOf(caller), changes)
    const { pinned, tags } = markOf(changes)
    const isUse = Object.keys(fields).length > 0 || assistantId !== undefined || Object.keys(changes).length === 0
    const $set = {
      ...fields,
      ...(assistantId ? { assistant_id: assistantId } : {}),
      ...(pinned ? { pinned } : {}),
      ...(tags?.length ? { tags } : {}),
      ...(isUse ? { updated_at: new Date() } : {}),
    }
    const $unset = {
      ...(assistantId === null ? { assistant_id: 1 as const } : {}),
      ...(pinned === false ? { pinned: 1 as const } : {}),
      ...(tags?.length === 0 ? { tags: 1 as const } : {}),
    }
    return threads.findOneAndUpdate(own, { $set, $unset }, { returnDocument: 'after' }).lean<ThreadRecord>()
  }

  async function fieldsOf(owner: Owner, { name, assistant_id: assistantId, metadata }: ThreadChanges) {
    if (typeof assistantId === 'string') await requireReadable(owner, assistantId)
    return {
      ...(name === undefined ? {} : { name }),
      ...(assistantId === undefined ? {} : { assistant_id: assistantId }),
      ...(metadata === undefined ? {} : { metadata_json: checkFreeForm(['body', 'metadata'], metadata) }),
    }
  }

  async function requireReadable(owner: Owner, assistantId: string): Promise<void> {
    const assistant = await assistants
      .findOne({ _id: assistantId, ...present, ...isAssistant }, { user_id: 1, project_id: 1, public: 1 })
      .lean()
    if (assistant === null) throw new AppError('not_found', 'There is no such assistant.')
    if (!owns(owner, assistant) && !assistant.public) {
      throw new AppError('forbidden', 'This assistant belongs to another user.')
    }
  }
}

/** Pinning and tagging is no use of a thread: it keeps its place in the list. */
function markOf({ pinned, tags }: ThreadChanges): Pick<ThreadRecord, 'pinned' | 'tags'> {
  return {
    ...(pinned === undefined ? {} : { pinned }),
    ...(tags === undefined ? {} : { tags: normalisedTags(tags) }),
  }
}

/** Without blanks around them, empty ones, and those that differ from an earlier one only in case. */
export function normalisedTags(tags: readonly string[]): string[] {
  const known = new Map<string, string>()
  for (const tag of tags) {
    const text = tag.normalize('NFC').trim().replaceAll(/\s+/g, ' ')
    const key = text.toLowerCase()
    if (text !== '' && !known.has(key)) known.set(key, text)
  }
  return [...known.values()]
}
