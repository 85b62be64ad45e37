import { AppError } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/free-form.ts'
import { checkMessageSize, maxMessageBytes } from '../../domain/message-size.ts'
import { type Message, type MessageInput, normaliseMessage } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { type PageRange, readPage } from '../page.ts'
import type { CreateThread } from './create-thread.ts'
import type { ThreadLog } from './log.ts'
import type { HistoryPage, ThreadState, ThreadStates } from './log-states.ts'
import type { PendingInput } from './pending-input.ts'
import { type ThreadStatus, statusesOf } from './status.ts'
import { createUnusedHomeThread } from './unused-home-thread.ts'

export type ThreadWithStatus = ThreadRecord & { status: ThreadStatus }

export interface CurrentState {
  state: ThreadState | null
  status: ThreadStatus
}

export interface History extends HistoryPage {
  status: ThreadStatus
  newest: number | undefined
}

export interface ThreadChanges {
  name?: string
  /** Null removes the assistant. */
  assistant_id?: string | null
  metadata?: Record<string, unknown>
}

interface ThreadsDeps {
  collections: Pick<Collections, 'projects' | 'threads' | 'assistants' | 'runs'>
  createThread: CreateThread
  log: Pick<ThreadLog, 'append' | 'find'>
  states: ThreadStates
  pendingInput: Pick<PendingInput, 'missingFromLog'>
}

const present = { deleting: { $ne: true } } as const
const defaultName = 'New thread'
/** A thread without its metadata; a name has at most 1,000 characters. */
const restBytes = 5000

/** Operations on threads. Another user's thread is answered like a missing one: `not_found`. */
export function createThreads({ collections, createThread, log, states, pendingInput }: ThreadsDeps) {
  const { threads, assistants } = collections
  const unusedHomeThread = createUnusedHomeThread(collections)

  return {
    /**
     * The threads of the token's project, most recently updated first, without those of public callers and the one that
     * a login made and nobody has used.
     */
    async list(caller: Caller, range: PageRange) {
      const own = { user_id: caller.userId, project_id: caller.projectId, public: false, ...present }
      const unused = await unusedHomeThread(caller)
      const filter = unused === undefined ? own : { ...own, _id: { $ne: unused } }
      const query = threads.find(filter).sort({ updated_at: -1, _id: -1 }).lean<ThreadRecord>()
      const [{ entries, hasMore }, total] = await Promise.all([
        readPage(query, range, ({ metadata_json: metadata }) => Buffer.byteLength(metadata) + restBytes),
        threads.countDocuments(filter),
      ])
      return { entries: await withStatuses(entries), hasMore, total }
    },

    /** Under a new id. */
    create: insert,

    async read(userId: string, threadId: string): Promise<ThreadWithStatus> {
      return withStatus(await requireOwn(userId, threadId))
    },

    readOwn: requireOwn,

    /** Changes the given members, or creates the thread in the token's project under the id that the caller chose. */
    async put(caller: Caller, threadId: string, changes: ThreadChanges): Promise<ThreadWithStatus> {
      const updated = await update(caller.userId, threadId, changes)
      if (updated) return withStatus(updated)
      return insert(caller, threadId, changes).catch(async (error: unknown) => {
        if (!isDuplicateKey(error)) throw error
        const again = await update(caller.userId, threadId, changes)
        if (again) return withStatus(again)
        throw missing()
      })
    },

    /** The current state, null if the thread is empty; with `before`, the messages that precede that message. */
    async state(userId: string, threadId: string, before?: string): Promise<CurrentState> {
      const thread = await requireOwn(userId, threadId)
      const [state, [status]] = await Promise.all([states.state(thread, before), statuses([thread])])
      return { state, status: status ?? 'idle' }
    },

    /** Adds an entry to the log, under a new id. */
    async addState(userId: string, threadId: string, messages: MessageInput[], entryId?: string): Promise<void> {
      await requireOwn(userId, threadId)
      const added = storable(messages)
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
    async history(userId: string, threadId: string, page: { limit: number; before?: string }): Promise<History> {
      const thread = await requireOwn(userId, threadId)
      const [found, [status]] = await Promise.all([states.history(thread, page), statuses([thread])])
      const newest = page.before === undefined ? found.states[0]?.checkpoint.seq : undefined
      return { ...found, status: status ?? 'idle', newest }
    },
  }

  async function insert(caller: Caller, threadId: string, changes: ThreadChanges): Promise<ThreadWithStatus> {
    const { assistant_id: assistantId, ...fields } = await fieldsOf(caller.userId, changes)
    const thread = await createThread({
      id: threadId,
      ...caller,
      name: fields.name ?? defaultName,
      metadataJson: fields.metadata_json ?? '{}',
      assistantId: assistantId ?? undefined,
      public: false,
    })
    return { ...thread, status: 'idle' }
  }

  async function update(userId: string, threadId: string, changes: ThreadChanges): Promise<ThreadRecord | null> {
    const own = { _id: threadId, user_id: userId, ...present }
    if ((await threads.exists(own)) === null) return null
    const { assistant_id: assistantId, ...fields } = await fieldsOf(userId, changes)
    const $set = { ...fields, ...(assistantId ? { assistant_id: assistantId } : {}), updated_at: new Date() }
    const $unset = assistantId === null ? { $unset: { assistant_id: 1 } } : {}
    return threads.findOneAndUpdate(own, { $set, ...$unset }, { returnDocument: 'after' }).lean<ThreadRecord>()
  }

  async function fieldsOf(userId: string, { name, assistant_id: assistantId, metadata }: ThreadChanges) {
    if (typeof assistantId === 'string') await requireReadable(userId, assistantId)
    return {
      ...(name === undefined ? {} : { name }),
      ...(assistantId === undefined ? {} : { assistant_id: assistantId }),
      ...(metadata === undefined ? {} : { metadata_json: checkFreeForm(['body', 'metadata'], metadata) }),
    }
  }

  async function requireReadable(userId: string, assistantId: string): Promise<void> {
    const assistant = await assistants.findOne({ _id: assistantId, ...present }, { user_id: 1, public: 1 }).lean()
    if (assistant === null) throw new AppError('not_found', 'There is no such assistant.')
    if (assistant.user_id !== userId && !assistant.public) {
      throw new AppError('forbidden', 'This assistant belongs to another user.')
    }
  }

  async function requireOwn(userId: string, threadId: string): Promise<ThreadRecord> {
    const thread = await threads.findOne({ _id: threadId, user_id: userId, ...present }).lean<ThreadRecord>()
    if (thread === null) throw missing()
    return thread
  }

  async function statuses(records: ThreadRecord[]): Promise<ThreadStatus[]> {
    const known = await statusesOf(collections, records)
    return records.map((record) => known.get(record._id) ?? 'idle')
  }

  async function withStatuses(records: ThreadRecord[]): Promise<ThreadWithStatus[]> {
    const found = await statuses(records)
    return records.map((record, index) => ({ ...record, status: found[index] ?? 'idle' }))
  }

  async function withStatus(record: ThreadRecord): Promise<ThreadWithStatus> {
    const [status = 'idle'] = await statuses([record])
    return { ...record, status }
  }
}

function missing(): AppError {
  return new AppError('not_found', 'There is no such thread.')
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
