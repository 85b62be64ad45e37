import { AppError } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/foreign-json.ts'
import type { ProjectAccess, ThreadRecord, Visibility } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { type Caller, type Owner, ownerOf, owns } from '../owner.ts'
import { assistantStore } from '../stores/assistants.ts'
import { folderStore } from '../stores/folders.ts'
import { threadStore } from '../stores/threads.ts'
import type { CreateThread } from './create-thread.ts'
import { type ThreadReads, type ThreadWithStatus, missing, requireMade } from './read-threads.ts'

interface ThreadChanges {
  name?: string
  /** The name stands in until the small model has given another one. */
  provisional_name?: boolean
  /** Null removes the assistant. */
  assistant_id?: string | null
  metadata?: Record<string, unknown>
  pinned?: boolean
  archived?: boolean
  tags?: string[]
  /** A folder of the caller in the thread's project; null: none. */
  folder_id?: string | null
  visibility?: Visibility
  project_access?: ProjectAccess
}

interface NewThread extends ThreadChanges {
  /** In no list, and deleted after a day. */
  temporary?: boolean
}

interface ThreadWritesDeps {
  collections: Pick<Collections, 'threads' | 'assistants' | 'folders'>
  createThread: CreateThread
  withStatus: ThreadReads['withStatus']
}

const defaultName = 'New thread'
const temporaryMs = 24 * 3600_000

export function createThreadWrites({ collections, createThread, withStatus }: ThreadWritesDeps) {
  const threads = threadStore(collections)

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
    if (temporary && changes.visibility === 'project') throw notSharable()
    const { assistant_id: assistantId, ...fields } = await fieldsOf(ownerOf(caller), changes)
    const folderId = await folderOf(caller, changes)
    const thread = await createThread({
      id: threadId,
      ...caller,
      name: fields.name ?? defaultName,
      provisionalName: fields.name === undefined || changes.provisional_name === true,
      metadataJson: fields.metadata_json ?? '{}',
      assistantId: assistantId ?? undefined,
      public: false,
      expiresAt: temporary ? new Date(Date.now() + temporaryMs) : undefined,
      ...markOf(changes),
      folderId: folderId ?? undefined,
      ...sharingOf(changes).set,
    })
    return { ...thread, status: 'idle' }
  }

  async function update(caller: Caller, threadId: string, changes: ThreadChanges): Promise<ThreadRecord | null> {
    const known = await threads.findOfAny(threadId)
    if (known === null) return null
    requireMade(caller, known)
    const sharing = sharingOf(changes)
    if (sharing.set.visibility === 'project') requireSharable(known)
    if (typeof changes.folder_id === 'string' && known.public)
      throw new AppError('forbidden', 'Chats of public callers are in no folder.')
    const { assistant_id: assistantId, ...fields } = await fieldsOf(ownerOf(caller), changes)
    const { pinned, archived, tags } = markOf(changes)
    const folderId = await folderOf({ userId: caller.userId, projectId: known.project_id }, changes)
    const isNamed =
      changes.provisional_name === false || (changes.name !== undefined && changes.provisional_name === undefined)
    const isUse = Object.keys(fields).length > 0 || assistantId !== undefined || Object.keys(changes).length === 0
    const $set = {
      ...fields,
      ...sharing.set,
      ...(assistantId ? { assistant_id: assistantId } : {}),
      ...(pinned ? { pinned } : {}),
      ...(archived ? { archived } : {}),
      ...(folderId ? { folder_id: folderId } : {}),
      ...(tags?.length ? { tags } : {}),
      ...(isUse ? { updated_at: new Date() } : {}),
      ...(changes.provisional_name === true ? { provisional_name: true as const } : {}),
    }
    const $unset = {
      ...sharing.unset,
      ...(assistantId === null ? { assistant_id: 1 as const } : {}),
      ...(pinned === false ? { pinned: 1 as const } : {}),
      ...(archived === false ? { archived: 1 as const } : {}),
      ...(folderId === null ? { folder_id: 1 as const } : {}),
      ...(tags?.length === 0 ? { tags: 1 as const } : {}),
      ...(isNamed ? { provisional_name: 1 as const } : {}),
    }
    return threads.changeOwned(caller.userId, threadId, { $set, $unset })
  }

  async function folderOf(owner: { userId: string; projectId: string }, { folder_id: id }: ThreadChanges) {
    if (typeof id === 'string' && (await folderStore(collections).findIn(owner, id)) === null)
      throw new AppError('not_found', 'There is no such folder.')
    return id
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
    const assistant = await assistantStore(collections).findAccessOfAny(assistantId)
    if (assistant === null) throw new AppError('not_found', 'There is no such assistant.')
    if (!owns(owner, assistant) && !assistant.public) {
      throw new AppError('forbidden', 'This assistant belongs to another user.')
    }
  }
}

/** A member that is left out stays as it is; what is private has no access. */
function sharingOf({ visibility, project_access: access }: ThreadChanges) {
  const set = {
    ...(visibility === 'project' ? { visibility } : {}),
    ...(access === 'continue' && visibility !== 'private' ? { project_access: access } : {}),
  }
  const unset = {
    ...(visibility === 'private' ? { visibility: 1 as const } : {}),
    ...(access === 'read' || visibility === 'private' ? { project_access: 1 as const } : {}),
  }
  return { set, unset }
}

/** Only what stands in lists is shown to others. */
function requireSharable({
  public: isPublic,
  counted,
  asked_from: parentThreads,
  expires_at: expiresAt,
}: ThreadRecord) {
  if (isPublic || counted === false || parentThreads !== undefined || expiresAt !== undefined) throw notSharable()
}

const notSharable = () => new AppError('forbidden', 'Only your own lasting chats can be shared with the project.')

/** Pinning, putting aside and tagging is no use of a thread: it keeps its place in the list. */
function markOf({ pinned, archived, tags }: ThreadChanges): Pick<ThreadRecord, 'pinned' | 'archived' | 'tags'> {
  return {
    ...(pinned === undefined ? {} : { pinned }),
    ...(archived === undefined ? {} : { archived }),
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
