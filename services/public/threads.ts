import { AppError } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/free-form.ts'
import { newId } from '../../domain/ids.ts'
import { type Message, messagesFromJson } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { type Page, firstPage, readPage } from '../page.ts'
import { type ListedRun, runBytes, withoutInput } from '../runs/index.ts'
import { type CreateThread, threadRecordOf } from '../threads/create-thread.ts'
import type { ThreadLog } from '../threads/log.ts'
import type { ScanLog } from '../threads/log-scan.ts'
import type { PendingInput } from '../threads/pending-input.ts'
import { type LoggedMessage, loggedMessages } from './thread-messages.ts'

interface PublicThreadsDeps {
  collections: Pick<Collections, 'threads' | 'runs'>
  createThread: CreateThread
  log: Pick<ThreadLog, 'append' | 'find'>
  scanLog: ScanLog
  pendingInput: Pick<PendingInput, 'missingFromLog'>
}

export interface NewPublicThread {
  metadata?: Record<string, unknown> | undefined
  messages?: Message[]
}

/**
 * A thread that is not to be stored is deleted after its answer. If the process that answers dies, the retention
 * deletes it after this time.
 */
export const unstoredMs = 10 * 60_000

/** Part of a list: ids of entries, as in the OpenAI API. */
export interface PageQuery {
  order: 'asc' | 'desc'
  limit: number
  after?: string | undefined
  before?: string | undefined
}

/** Threads of public callers. Each belongs to one assistant; for any other assistant it is `not_found`. */
export function createPublicThreads({ collections, createThread, log, scanLog, pendingInput }: PublicThreadsDeps) {
  const { threads, runs } = collections

  return {
    /** Creates a thread that does not count against the owner's quota. */
    async create(assistant: AssistantRecord, { metadata, messages = [] }: NewPublicThread, id: string) {
      const metadataJson = checkFreeForm(['body', 'metadata'], metadata ?? {})
      const thread = await createThread({ ...newThreadOf(assistant, metadataJson), id })
      if (messages.length > 0) await log.append(id, { id, messages, source: 'update' })
      return thread
    },

    /** The thread that an earlier attempt of the same request created; missing messages are added. */
    async finishCreation(assistant: AssistantRecord, { messages = [] }: NewPublicThread, id: string) {
      const thread = await find(assistant, id)
      if (messages.length > 0 && (await log.find(id, id)) === null)
        await log.append(id, { id, messages, source: 'update' })
      return thread
    },

    /** A thread that is stored together with its first run (`withThread`). */
    draft: (
      assistant: AssistantRecord,
      { metadata = {}, isStored = true }: { metadata?: Record<string, unknown> | undefined; isStored?: boolean } = {},
    ): ThreadRecord => ({
      ...threadRecordOf(newThreadOf(assistant, checkFreeForm(['body', 'metadata'], metadata))),
      ...(isStored ? {} : { expires_at: new Date(Date.now() + unstoredMs) }),
    }),

    find,

    async setMetadata(assistant: AssistantRecord, threadId: string, metadata: Record<string, unknown>) {
      const thread = await threads
        .findOneAndUpdate(
          ownOf(assistant, threadId),
          { $set: { metadata_json: checkFreeForm(['body', 'metadata'], metadata), updated_at: new Date() } },
          { returnDocument: 'after' },
        )
        .lean<ThreadRecord>()
      if (thread === null) throw missing('thread')
      return thread
    },

    async addMessage(assistant: AssistantRecord, threadId: string, message: Message, entryId: string) {
      await find(assistant, threadId)
      const input = await pendingInput.missingFromLog(threadId)
      const { record: entry } = await log.append(threadId, {
        id: entryId,
        messages: [message],
        source: 'update',
        input,
      })
      return { message, createdAt: entry.created_at, runId: undefined } satisfies LoggedMessage
    },

    /** The message that `addMessage` added under this id; null if it did not. */
    async addedMessage(assistant: AssistantRecord, threadId: string, entryId: string): Promise<LoggedMessage | null> {
      await find(assistant, threadId)
      const entry = await log.find(threadId, entryId)
      const [message] = entry === null ? [] : messagesFromJson(entry.messages_json)
      return entry === null || message === undefined ? null : { message, createdAt: entry.created_at, runId: undefined }
    },

    /** The messages of people and the assistant, oldest first. */
    messages: async (assistant: AssistantRecord, threadId: string): Promise<LoggedMessage[]> =>
      loggedMessages(scanLog, await find(assistant, threadId)),

    /** The messages of one run of the thread. */
    messagesOfRun: async (assistant: AssistantRecord, run: RunRecord): Promise<LoggedMessage[]> =>
      loggedMessages(scanLog, await find(assistant, run.thread_id), run),

    findRun,

    async runs(assistant: AssistantRecord, threadId: string, page: PageQuery): Promise<Page<ListedRun>> {
      await find(assistant, threadId)
      if (page.after !== undefined) await findRun(assistant, threadId, page.after)
      if (page.before !== undefined) await findRun(assistant, threadId, page.before)
      // Ids are time-ordered. With only `before`, the nearest entries are wanted, so the list is read backwards.
      const backwards = page.before !== undefined && page.after === undefined
      const ascending = (page.order === 'asc') !== backwards
      const [first, last] = page.order === 'asc' ? (['$gt', '$lt'] as const) : (['$lt', '$gt'] as const)
      const range = {
        ...(page.after === undefined ? {} : { [first]: page.after }),
        ...(page.before === undefined ? {} : { [last]: page.before }),
      }
      const query = runs
        .find({ thread_id: threadId, ...(Object.keys(range).length > 0 ? { _id: range } : {}) }, withoutInput)
        .sort({ _id: ascending ? 1 : -1 })
        .lean<ListedRun>()
      const { entries, hasMore } = await readPage(query, { limit: page.limit, offset: 0 }, runBytes)
      return { entries: backwards ? entries.toReversed() : entries, hasMore }
    },
  }

  async function find(assistant: AssistantRecord, threadId: string): Promise<ThreadRecord> {
    const thread = await threads.findOne(ownOf(assistant, threadId)).lean<ThreadRecord>()
    if (thread === null) throw missing('thread')
    return thread
  }

  async function findRun(assistant: AssistantRecord, threadId: string, runId: string): Promise<RunRecord> {
    await find(assistant, threadId)
    const run = await runs.findOne({ _id: runId, thread_id: threadId }).lean<RunRecord>()
    if (run === null) throw missing('run')
    return run
  }
}

/** One page of a list in memory, no larger than one answer. Throws `not_found` for an unknown cursor. */
export function pageOf<T>(oldestFirst: T[], idOf: (entry: T) => string, page: PageQuery): Page<T> {
  const entries = page.order === 'asc' ? oldestFirst : oldestFirst.toReversed()
  const place = (id: string | undefined, otherwise: number) => {
    if (id === undefined) return otherwise
    const found = entries.findIndex((entry) => idOf(entry) === id)
    if (found === -1) throw missing('entry')
    return found
  }
  const start = place(page.after, -1) + 1
  const end = place(page.before, entries.length)
  const range = entries.slice(start, Math.max(start, end))
  const backwards = page.before !== undefined && page.after === undefined
  const { entries: chosen, hasMore } = firstPage(backwards ? range.toReversed() : range, page.limit)
  return { entries: backwards ? chosen.toReversed() : chosen, hasMore }
}

function newThreadOf(assistant: AssistantRecord, metadataJson: string) {
  return {
    id: newId(),
    userId: assistant.user_id,
    projectId: assistant.project_id,
    name: 'Public thread',
    metadataJson,
    assistantId: assistant._id,
    public: true,
  }
}

function ownOf(assistant: AssistantRecord, threadId: string) {
  return { _id: threadId, public: true, assistant_id: assistant._id, deleting: { $ne: true } }
}

function missing(what: string): AppError {
  return new AppError('not_found', `There is no such ${what}.`)
}
