import { createHash, randomBytes } from 'node:crypto'
import { isAttached } from '../../domain/content-parts.ts'
import { AppError } from '../../domain/errors.ts'
import type { Message } from '../../domain/messages.ts'
import type { ShareRecord } from '../../domain/records/share.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import { type PageRange, readPage } from '../page.ts'
import { holdThread } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { ThreadStates } from './log-states.ts'
import { type ThreadReads, present } from './read-threads.ts'

export interface SharesDeps {
  collections: Pick<Collections, 'shares' | 'threads' | 'users'>
  transaction: RunInTransaction
  states: Pick<ThreadStates, 'state'>
  readOwn: ThreadReads['readOwn']
}

export type SharedThread = ShareRecord & { name: string }

/** What everybody may read of a message: its text, and what its files are called. */
export interface SharedMessage {
  id: string
  role: 'user' | 'assistant'
  content: string
  files: string[]
}

const recordBytes = 5000
const ownThread = { public: false, counted: { $ne: false }, ...present } as const

/** Read-only links to threads. The token of a link is known only to whom it was given: the record has its hash. */
export function createShares({ collections, transaction, states, readOwn }: SharesDeps) {
  const { shares, threads, users } = collections

  return {
    /** A new link to the thread as it is now; the link before it no longer works. */
    async create(userId: string, threadId: string): Promise<{ share: SharedThread; token: string }> {
      const thread = await sharable(userId, threadId)
      const token = randomBytes(32).toString('base64url')
      const now = new Date()
      const share: ShareRecord = {
        _id: threadId,
        thread_id: threadId,
        user_id: userId,
        project_id: thread.project_id,
        token_hash: hashOf(token),
        until_seq: thread.last_seq ?? 0,
        views: 0,
        created_at: now,
        updated_at: now,
      }
      await transaction(async (session) => {
        await holdThread(collections, threadId, session)
        await shares.deleteOne({ _id: threadId, user_id: userId }, { session })
        await shares.create([share], { session })
      })
      return { share: { ...share, name: thread.name }, token }
    },

    /** The same link shows the messages up to now. */
    async update(userId: string, threadId: string): Promise<SharedThread> {
      const thread = await sharable(userId, threadId)
      const share = await shares
        .findOneAndUpdate(
          { _id: threadId, user_id: userId },
          { $set: { until_seq: thread.last_seq ?? 0, updated_at: new Date() } },
          { returnDocument: 'after' },
        )
        .lean<ShareRecord>()
      return { ...shared(share), name: thread.name }
    },

    async read(userId: string, threadId: string): Promise<SharedThread> {
      const { name } = await readOwn(userId, threadId)
      return { ...shared(await shares.findOne({ _id: threadId, user_id: userId }).lean<ShareRecord>()), name }
    },

    async remove(userId: string, threadId: string): Promise<void> {
      const { deletedCount } = await shares.deleteOne({ _id: threadId, user_id: userId })
      if (deletedCount === 0) throw notShared()
    },

    /** The links of the token's project, newest first. */
    async list({ userId, projectId }: Caller, range: PageRange) {
      const own = { user_id: userId, project_id: projectId }
      const query = shares.find(own).sort({ created_at: -1, _id: -1 }).lean<ShareRecord>()
      const page = await readPage(query, range, () => recordBytes)
      const ids = page.entries.map(({ thread_id: id }) => id)
      const named = await threads.find({ _id: { $in: ids }, user_id: userId }, { name: 1 }).lean()
      const names = new Map(named.map(({ _id, name }) => [_id, name]))
      const entries = page.entries.map((share): SharedThread => ({ ...share, name: names.get(share._id) ?? '' }))
      return { entries, hasMore: page.hasMore }
    },

    /**
     * What a link shows, the newest messages that fit into one answer; with `before`, the id of a message, those before
     * it. Counted as a view without `before`. Throws `not_found` for a link that does not work, whatever the reason.
     */
    async open(token: string, before?: string) {
      const share = await shares.findOne({ token_hash: hashOf(token) }).lean<ShareRecord>()
      if (share === null) throw noLink()
      const [thread, owner] = await Promise.all([
        threads.findOne({ _id: share.thread_id, user_id: share.user_id, ...ownThread }).lean<ThreadRecord>(),
        users.exists({ _id: share.user_id, deleting: { $ne: true }, suspended_at: { $exists: false } }),
      ])
      if (thread === null || owner === null) throw noLink()
      const state = await states.state(thread, { before, until: share.until_seq + 1 })
      if (before === undefined)
        await shares.updateOne(
          { _id: share._id, token_hash: share.token_hash },
          { $inc: { views: 1 }, $set: { last_viewed_at: new Date() } },
        )
      return {
        name: thread.name,
        shared_at: share.updated_at,
        messages: (state?.messages ?? []).flatMap(shown),
        /** Where older ones go on; undefined if there are none. */
        before: state !== null && state.omitted > 0 ? state.messages[0]?.data.id : undefined,
      }
    },
  }

  async function sharable(userId: string, threadId: string): Promise<ThreadRecord> {
    const thread = await readOwn(userId, threadId)
    if (thread.public || thread.counted === false)
      throw new AppError('forbidden', 'Only your own chats can be shared, not those of public callers.')
    return thread
  }
}

function shown({ type, data }: Message): SharedMessage[] {
  if ((type !== 'HumanMessage' && type !== 'AIMessage') || data.deleted) return []
  const files =
    type === 'HumanMessage'
      ? (data.parts ?? []).filter(isAttached).map((part) => (part.type === 'file' ? part.name : ''))
      : []
  if (data.content === '' && files.length === 0) return []
  return [{ id: data.id, role: type === 'HumanMessage' ? 'user' : 'assistant', content: data.content, files }]
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}

function shared(share: ShareRecord | null): ShareRecord {
  if (share === null) throw notShared()
  return share
}

const notShared = () => new AppError('not_found', 'This chat has no link.')
const noLink = () => new AppError('not_found', 'There is nothing under this link, or no longer.')
