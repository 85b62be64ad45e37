import { AppError } from '../../domain/errors.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import { type PageRange, readPage } from '../page.ts'
import { type ThreadStatus, statusesOf } from './status.ts'
import { createUnusedHomeThread } from './unused-home-thread.ts'

export type ThreadReads = ReturnType<typeof createThreadReads>

/** With `pinned` only those, with `tag` only those that have it. */
export interface ThreadRange extends PageRange {
  pinned?: boolean | undefined
  tag?: string | undefined
}

export type ThreadWithStatus = ThreadRecord & { status: ThreadStatus }

/** Selects threads that are not being deleted. */
export const present = { deleting: { $ne: true } } as const
/**
 * Selects the threads of a project that are its user's own: not those of public callers and completions, temporary ones,
 * and those in which assistants ask each other.
 */
export const listed = ({ userId, projectId }: Caller) =>
  ({
    user_id: userId,
    project_id: projectId,
    public: false,
    counted: { $ne: false },
    asked_from: { $exists: false },
    expires_at: { $exists: false },
    ...present,
  }) as const
/** A thread without its metadata; a name has at most 1,000 characters. */
const restBytes = 5000
const maxTags = 1000

/** Another user's thread is answered like a missing one: `not_found`. */
export function createThreadReads(collections: Pick<Collections, 'projects' | 'threads' | 'runs'>) {
  const { threads } = collections
  const unusedHomeThread = createUnusedHomeThread(collections)

  return {
    /**
     * The threads of the token's project, most recently updated first, without those of public callers, temporary ones,
     * those in which assistants ask each other, and the one that a login made and nobody has used.
     */
    async list(caller: Caller, { pinned, tag, ...range }: ThreadRange) {
      const own = { ...listed(caller), ...(pinned ? { pinned } : {}), ...(tag === undefined ? {} : { tags: tag }) }
      const unused = await unusedHomeThread(caller)
      const filter = unused === undefined ? own : { ...own, _id: { $ne: unused } }
      const query = threads.find(filter).sort({ updated_at: -1, _id: -1 }).lean<ThreadRecord>()
      const [{ entries, hasMore }, total] = await Promise.all([
        readPage(query, range, ({ metadata_json: metadata }) => Buffer.byteLength(metadata) + restBytes),
        threads.countDocuments(filter),
      ])
      return { entries: await withStatuses(entries), hasMore, total }
    },

    /** The tags of the threads in `list`. */
    async tags(caller: Caller): Promise<string[]> {
      const tags = await threads.distinct('tags', { ...listed(caller), tags: { $exists: true } })
      return tags.toSorted((a, b) => a.localeCompare(b)).slice(0, maxTags)
    },

    async read(userId: string, threadId: string): Promise<ThreadWithStatus> {
      return withStatus(await readOwn(userId, threadId))
    },

    readOwn,
    statusOf,
    withStatus,
  }

  async function readOwn(userId: string, threadId: string): Promise<ThreadRecord> {
    const thread = await threads.findOne({ _id: threadId, user_id: userId, ...present }).lean<ThreadRecord>()
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

export function missing(): AppError {
  return new AppError('not_found', 'There is no such thread.')
}
