import { AppError } from '../../domain/errors.ts'
import type { ThreadRecord, Visibility } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from '../owner.ts'
import type { PageRange } from '../page.ts'
import { folderStore } from '../stores/folders.ts'
import { projectStore } from '../stores/projects.ts'
import { runStore } from '../stores/runs.ts'
import { threadStore } from '../stores/threads.ts'
import { type ThreadStatus, statusesOf } from './status.ts'

export type ThreadReads = ReturnType<typeof createThreadReads>

/**
 * With `pinned` only those, with `tag` only those that have it, with `archived` those that were put aside in place of
 * the others.
 */
interface ThreadRange extends PageRange {
  pinned?: boolean | undefined
  archived?: boolean | undefined
  tag?: string | undefined
  /** `none`: those in none of the caller's folders. */
  folder_id?: string | undefined
  /** Only those; default: both kinds. */
  visibility?: Visibility | undefined
}

export type ThreadWithStatus = ThreadRecord & { status: ThreadStatus }

const maxTags = 1000

/** A thread that the caller does not see is answered like a missing one: `not_found`. */
export function createThreadReads(collections: Pick<Collections, 'projects' | 'threads' | 'runs' | 'folders'>) {
  const threads = threadStore(collections)
  const unusedHomeThread = createUnusedHomeThread(collections)

  return {
    /**
     * The threads of the token's project, most recently updated first, without those of public callers, temporary ones,
     * those in which assistants ask each other, and the one that a login made and nobody has used.
     */
    async list(caller: Caller, { pinned, archived, tag, visibility, folder_id: folder, ...range }: ThreadRange) {
      const without = await unusedHomeThread(caller)
      const inFolder = folder === 'none' ? { notIn: await folderStore(collections).idsOwned(caller) } : { folder }
      const wanted = { pinned, archived, tag, visibility, without, ...inFolder }
      const { entries, hasMore, total } = await threads.list(caller, wanted, range)
      return { entries: await withStatuses(entries), hasMore, total }
    },

    /** The tags of the threads in `list`, without those put aside. */
    async tags(caller: Caller): Promise<string[]> {
      const tags = await threads.tagsOf(caller)
      return tags.toSorted((a, b) => a.localeCompare(b)).slice(0, maxTags)
    },

    async read(caller: Caller, threadId: string): Promise<ThreadWithStatus> {
      return withStatus(await see(caller, threadId))
    },

    readOwn,
    see,
    /** The thread, for what its owner does alone. */
    requireMade: async (caller: Caller, threadId: string) => requireMade(caller, await threads.findOfAny(threadId)),
    /** The thread, for a run or a message on it. */
    requireContinuable: async (caller: Caller, threadId: string) =>
      requireContinuable(caller, await threads.findOfAny(threadId)),
    statusOf,
    withStatus,
  }

  /** One's own thread, or one that the project sees. */
  async function see(caller: Caller, threadId: string): Promise<ThreadRecord> {
    return requireSeen(caller, await threads.findOfAny(threadId))
  }

  async function readOwn(userId: string, threadId: string): Promise<ThreadRecord> {
    const thread = await threads.findOwned(userId, threadId)
    if (thread === null) throw missing()
    return thread
  }

  async function statusOf(record: ThreadRecord): Promise<ThreadStatus> {
    return (await statusesOf(collections, [record])).get(record._id) ?? 'idle'
  }

  async function withStatuses(records: ThreadRecord[]): Promise<ThreadWithStatus[]> {
    const known = await statusesOf(collections, records)
    return records.map((record) => ({ ...record, status: known.get(record._id) ?? 'idle' }))
  }

  async function withStatus(record: ThreadRecord): Promise<ThreadWithStatus> {
    return { ...record, status: await statusOf(record) }
  }
}

/**
 * The thread that the first login made and names, while nobody has used it: neither a message nor a run, and not
 * changed. Lists leave it out, so that a new account shows no empty chat; by its id it is like any other thread.
 */
function createUnusedHomeThread(collections: Pick<Collections, 'projects' | 'threads' | 'runs'>) {
  return async ({ userId, projectId }: Caller): Promise<string | undefined> => {
    const threadId = await projectStore(collections).defaultThreadOf(userId, projectId)
    if (threadId === undefined) return undefined
    const thread = await threadStore(collections).findOwned(userId, threadId)
    if (thread === null || thread.last_seq !== undefined) return undefined
    if (thread.updated_at.getTime() !== thread.created_at.getTime()) return undefined
    // The input of a first run enters the thread with the answer.
    return (await runStore(collections).hasAny(userId, threadId)) ? undefined : threadId
  }
}

type Whose = Pick<ThreadRecord, 'user_id' | 'project_id' | 'visibility' | 'project_access'>

/** His own threads, in any project, and those that their owners share with the project of his token. */
export function maySee({ userId, projectId }: Caller, thread: Whose): boolean {
  return thread.user_id === userId || (thread.visibility === 'project' && thread.project_id === projectId)
}

/** Throws `not_found` for a thread that the caller does not see. */
export function requireSeen<T extends Whose>(caller: Caller, thread: T | null): T {
  if (thread === null || !maySee(caller, thread)) throw missing()
  return thread
}

/** Also throws `forbidden` for one that others may only read. */
export function requireContinuable<T extends Whose>(caller: Caller, thread: T | null): T {
  const seen = requireSeen(caller, thread)
  if (seen.user_id === caller.userId || seen.project_access === 'continue') return seen
  throw new AppError('forbidden', 'Whoever made this chat shares it read-only: only he continues it.')
}

/** Also throws `forbidden` for the thread of somebody else. */
export function requireMade<T extends Whose>(caller: Caller, thread: T | null): T {
  const seen = requireSeen(caller, thread)
  if (seen.user_id === caller.userId) return seen
  throw new AppError('forbidden', 'Only whoever made this chat may do this.')
}

export function missing(): AppError {
  return new AppError('not_found', 'There is no such thread.')
}
