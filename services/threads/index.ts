import { checkFreeForm } from '../../domain/foreign-json.ts'
import { checkMessageSize, maxMessageBytes } from '../../domain/message-size.ts'
import { type Message, type MessageInput, authoredBy, normaliseMessage } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { type OpenedAttachment, openAttachment } from '../attachments/open-attachment.ts'
import type { Collections } from '../collections.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import { type Maker, createMakers } from '../makers.ts'
import type { Caller } from '../owner.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { CreateThread } from './create-thread.ts'
import { createFindMessages } from './find-messages.ts'
import type { HistoryPage, StatePart, ThreadState, ThreadStates } from './log-states.ts'
import type { PendingInput, ThreadLog } from './log.ts'
import { type ThreadReads, createThreadReads } from './read-threads.ts'
import { createShares } from './shares.ts'
import { createSides } from './sides.ts'
import type { ThreadStatus } from './status.ts'
import { createThreadWrites } from './write-threads.ts'

interface ThreadsDeps {
  collections: Pick<
    Collections,
    'projects' | 'threads' | 'assistants' | 'runs' | 'attachments' | 'checkpoints' | 'shares' | 'users' | 'folders'
  >
  transaction: RunInTransaction
  createThread: CreateThread
  log: Pick<ThreadLog, 'append' | 'find'>
  states: ThreadStates
  pendingInput: Pick<PendingInput, 'missingFromLog'>
  storageQuota: Pick<StorageQuota, 'requireRoomForParts'>
}

/** Operations on threads. One that the caller does not see is answered like a missing one: `not_found`. */
export function createThreads(deps: ThreadsDeps) {
  const { collections, transaction, createThread, log, states, pendingInput } = deps
  const reads = createThreadReads(collections)
  const { list, tags, read, readOwn, see, requireMade, requireContinuable, withStatus } = reads
  return {
    list,
    tags,
    shares: createShares({ collections, transaction, states, requireMade }),
    findMessages: createFindMessages(deps),
    authors: createAuthors(collections),
    read,
    readOwn,
    see,
    requireMade,
    requireContinuable,
    ...createThreadWrites({ collections, createThread, withStatus }),
    ...createThreadState({ reads, log, states, pendingInput }),
    ...createSides({ ...deps, reads }),

    async attachment(caller: Caller, threadId: string, attachmentId: string): Promise<OpenedAttachment> {
      await see(caller, threadId)
      return openAttachment(collections, threadId, attachmentId)
    },
  }
}

/** Who has said something in threads that a project sees, and who made them: for members only. */
function createAuthors(collections: Pick<Collections, 'users'>) {
  const makers = createMakers(collections)

  return async (
    { user_id: userId, created_by: maker = userId }: ThreadRecord,
    messages: Message[],
  ): Promise<Maker[]> => {
    const ids = messages.flatMap(({ type, data }) => (type === 'HumanMessage' ? (data.author_id ?? []) : []))
    return [...(await makers([maker, ...ids])).values()]
  }
}

interface CurrentState {
  thread: ThreadRecord
  state: ThreadState | null
  status: ThreadStatus
}

interface History extends HistoryPage {
  thread: ThreadRecord
  status: ThreadStatus
  newest: number | undefined
}

interface ThreadStateDeps {
  reads: Pick<ThreadReads, 'see' | 'requireMade' | 'statusOf'>
  log: Pick<ThreadLog, 'append' | 'find'>
  states: ThreadStates
  pendingInput: Pick<PendingInput, 'missingFromLog'>
}

/** The messages of a thread: its state, its history, and entries that people add. */
function createThreadState({ reads, log, states, pendingInput }: ThreadStateDeps) {
  return {
    /** The current state, null if the thread is empty. */
    async state(caller: Caller, threadId: string, part?: StatePart): Promise<CurrentState> {
      const thread = await reads.see(caller, threadId)
      const [state, status] = await Promise.all([states.state(thread, part), reads.statusOf(thread)])
      return { thread, state, status }
    },

    /** Adds an entry to the log of the caller's own thread, under a new id: it may replace what others have said. */
    async addState(caller: Caller, threadId: string, messages: MessageInput[], entryId?: string): Promise<void> {
      const { visibility } = await reads.requireMade(caller, threadId)
      const given = storable(messages)
      const added = visibility === undefined ? given : authoredBy(caller.userId, given)
      const input = await pendingInput.missingFromLog(threadId)
      await log.append(threadId, {
        ...(entryId === undefined ? {} : { id: entryId }),
        messages: added,
        source: 'update',
        input,
      })
    },

    /** Whether the log of the thread contains this entry. */
    hasEntry: async (threadId: string, entryId: string) => (await log.find(threadId, entryId)) !== null,

    /** Past states, newest first. `newest`: number of the newest entry of all, when it is on this page. */
    async history(caller: Caller, threadId: string, page: { limit: number; before?: string }): Promise<History> {
      const thread = await reads.see(caller, threadId)
      const [found, status] = await Promise.all([states.history(thread, page), reads.statusOf(thread)])
      const newest = page.before === undefined ? found.states[0]?.checkpoint.seq : undefined
      return { ...found, thread, status, newest }
    },
  }
}

/**
 * Checked against the limits of messages; tool arguments, which are free-form, also against those of free-form
 * members.
 */
function storable(inputs: MessageInput[]): Message[] {
  const messages = inputs.map(normaliseMessage)
  checkFreeForm(['body', 'values'], messages)
  for (const [index, message] of messages.entries())
    checkMessageSize(message, maxMessageBytes.user, ['body', 'values', index])
  return messages
}
