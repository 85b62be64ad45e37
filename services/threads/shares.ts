import { createHash, randomBytes } from 'node:crypto'
import { isAttached } from '../../domain/content-parts.ts'
import { AppError } from '../../domain/errors.ts'
import type { Message } from '../../domain/messages.ts'
import type { ShareRecord } from '../../domain/records/share.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from '../owner.ts'
import { type PageRange } from '../page.ts'
import { lockThread } from '../parents.ts'
import { shareStore } from '../stores/shares.ts'
import { threadStore } from '../stores/threads.ts'
import { userStore } from '../stores/users.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { ThreadStates } from './log-states.ts'
import type { ThreadReads } from './read-threads.ts'

interface SharesDeps {
  collections: Pick<Collections, 'shares' | 'threads' | 'users'>
  transaction: RunInTransaction
  states: Pick<ThreadStates, 'state'>
  requireMade: ThreadReads['requireMade']
}

export type SharedThread = ShareRecord & { name: string }

/** What everybody may read of a message: its text, and what its files are called. */
export interface SharedMessage {
  id: string
  role: 'user' | 'assistant'
  content: string
  files: string[]
}

/** Read-only links to threads. The token of a link is known only to whom it was given: the record has its hash. */
export function createShares({ collections, transaction, states, requireMade }: SharesDeps) {
  const shares = shareStore(collections)
  const threads = threadStore(collections)

  return {
    /** A new link to the thread as it is now; the link before it no longer works. */
    async create(caller: Caller, threadId: string): Promise<{ share: SharedThread; token: string }> {
      const { userId } = caller
      const thread = await sharable(caller, threadId)
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
        await lockThread(collections, threadId, session)
        await shares.replace(share, session)
      })
      return { share: { ...share, name: thread.name }, token }
    },

    /** The same link shows the messages up to now. */
    async update(caller: Caller, threadId: string): Promise<SharedThread> {
      const { userId } = caller
      const thread = await sharable(caller, threadId)
      const share = await shares.showUntil(userId, threadId, thread.last_seq ?? 0)
      return { ...shared(share), name: thread.name }
    },

    async read(caller: Caller, threadId: string): Promise<SharedThread> {
      const { userId } = caller
      const { name } = await requireMade(caller, threadId)
      return { ...shared(await shares.findOwned(userId, threadId)), name }
    },

    async remove(caller: Caller, threadId: string): Promise<void> {
      const { userId } = caller
      await requireMade(caller, threadId)
      if (!(await shares.removeOwned(userId, threadId))) throw notShared()
    },

    /** The links of the token's project, newest first. */
    async list(caller: Caller, range: PageRange) {
      const page = await shares.listOwned(caller, range)
      const ids = page.entries.map(({ thread_id: id }) => id)
      const named = await threads.namesOf(ids, caller.userId)
      const names = new Map(named.map(({ _id, name }) => [_id, name]))
      const entries = page.entries.map((share): SharedThread => ({ ...share, name: names.get(share._id) ?? '' }))
      return { entries, hasMore: page.hasMore }
    },

    /**
     * What a link shows, the newest messages that fit into one answer; with `before`, the id of a message, those before
     * it. Counted as a view without `before`. Throws `not_found` for a link that does not work, whatever the reason.
     */
    async open(token: string, before?: string) {
      const share = await shares.findOfAnyByToken(hashOf(token))
      if (share === null) throw noLink()
      const [thread, owner] = await Promise.all([
        threads.findSharable(share.user_id, share.thread_id),
        userStore(collections).isUsable(share.user_id),
      ])
      if (thread === null || !owner) throw noLink()
      const state = await states.state(thread, { before, until: share.until_seq + 1 })
      if (before === undefined) await shares.countView(share)
      return {
        name: thread.name,
        shared_at: share.updated_at,
        messages: (state?.messages ?? []).flatMap(shown),
        /** Where older ones go on; undefined if there are none. */
        before: state !== null && state.omitted > 0 ? state.messages[0]?.data.id : undefined,
      }
    },
  }

  async function sharable(caller: Caller, threadId: string): Promise<ThreadRecord> {
    const thread = await requireMade(caller, threadId)
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
