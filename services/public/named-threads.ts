import { checkFreeForm } from '../../domain/foreign-json.ts'
import { type Message, authoredBy, messagesFromJson } from '../../domain/messages.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { type PageQuery, storedPage } from '../cursor-page.ts'
import type { Page } from '../page.ts'
import { type ListedRun, runBytes } from '../runs/index.ts'
import { runStore } from '../stores/runs.ts'
import type { ScanLog } from '../threads/log-scan.ts'
import type { PendingInput, ThreadLog } from '../threads/log.ts'
import { type ThreadUse, findThread, missing } from './find-thread.ts'
import { type ThreadOwner, namedThreadStore, publicRunStore } from './store.ts'

/** A message with what the log records about it. */
export interface LoggedMessage {
  message: Message
  createdAt: Date
  /** The run that produced it; undefined for messages of the caller. */
  runId: string | undefined
}

export interface NamedThreadsDeps {
  collections: Pick<Collections, 'threads' | 'runs'>
  log: Pick<ThreadLog, 'append' | 'find'>
  scanLog: ScanLog
  pendingInput: Pick<PendingInput, 'missingFromLog'>
}

export type NamedThreads = ReturnType<typeof createNamedThreads>

/** The threads that a request of the assistants API may name, with their messages and runs. */
export function createNamedThreads({ collections, log, scanLog, pendingInput }: NamedThreadsDeps) {
  const read = (owner: ThreadOwner, threadId: string, use: ThreadUse = 'see') =>
    findThread(collections, owner, threadId, use)

  async function findRun(owner: ThreadOwner, threadId: string, runId: string): Promise<RunRecord> {
    await read(owner, threadId)
    const run = await runStore(collections).findInThread({ _id: runId, thread_id: threadId })
    if (run === null) throw missing('run')
    return run
  }

  return {
    read,
    findRun,

    async setMetadata(owner: ThreadOwner, threadId: string, metadata: Record<string, unknown>): Promise<ThreadRecord> {
      const metadata_json = checkFreeForm(['body', 'metadata'], metadata)
      const change = { $set: { metadata_json, updated_at: new Date() } }
      const thread = await namedThreadStore(collections).changeOwned(owner, threadId, change)
      if (thread === null) throw missing('thread')
      return thread
    },

    async runs(owner: ThreadOwner, threadId: string, page: PageQuery): Promise<Page<ListedRun>> {
      await read(owner, threadId)
      return storedPage(page, {
        find: (id) => findRun(owner, threadId, id),
        read: (range, sort) => publicRunStore(collections).listInThread(threadId, range, sort),
        bytesOf: runBytes,
        isById: true,
      })
    },

    async addMessage(owner: ThreadOwner, threadId: string, message: Message, entryId: string) {
      const { visibility } = await read(owner, threadId, 'continue')
      const input = await pendingInput.missingFromLog(threadId)
      const { record: entry } = await log.append(threadId, {
        id: entryId,
        messages: visibility !== undefined && 'projectId' in owner ? authoredBy(owner.userId, [message]) : [message],
        source: 'update',
        input,
      })
      return { message, createdAt: entry.created_at, runId: undefined } satisfies LoggedMessage
    },

    /** Replaces a message of the thread: its metadata, or all of it. */
    replaceMessage: async (threadId: string, message: Message): Promise<void> => {
      const input = await pendingInput.missingFromLog(threadId)
      await log.append(threadId, { messages: [message], source: 'update', input, pastLimit: true })
    },

    /** The message that `addMessage` added under this id; null if it did not. */
    async addedMessage(owner: ThreadOwner, threadId: string, entryId: string): Promise<LoggedMessage | null> {
      await read(owner, threadId)
      const entry = await log.find(threadId, entryId)
      const [message] = entry === null ? [] : messagesFromJson(entry.messages_json)
      const isDeleted = message !== undefined && 'deleted' in message.data && message.data.deleted
      if (entry === null || message === undefined || isDeleted) return null
      return { message, createdAt: entry.created_at, runId: undefined }
    },

    /** The messages of people and the assistant, oldest first. */
    async messages(owner: ThreadOwner, threadId: string): Promise<LoggedMessage[]> {
      return loggedMessages(scanLog, await read(owner, threadId))
    },

    /** The messages of one run of the thread. */
    messagesOfRun: async (owner: ThreadOwner, run: RunRecord): Promise<LoggedMessage[]> =>
      loggedMessages(scanLog, await read(owner, run.thread_id), run),
  }
}

/**
 * The messages of a thread, or of one of its runs, oldest first, each with the time and the run of its first
 * appearance.
 */
async function loggedMessages(
  scan: ScanLog,
  owner: Pick<ThreadRecord, '_id' | 'user_id'>,
  run?: Pick<RunRecord, '_id'>,
): Promise<LoggedMessage[]> {
  const logged = new Map<string, LoggedMessage>()
  const filter = run === undefined ? { thread_id: owner._id } : { thread_id: owner._id, run_id: run._id }
  await scan({ filter, userId: owner.user_id }, (entry, messages) => {
    const runId = entry.source === 'input' ? undefined : entry.run_id
    for (const { message } of messages) {
      const known = logged.get(message.data.id)
      if (known) known.message = message
      else logged.set(message.data.id, { message, createdAt: entry.created_at, runId })
    }
  })
  return [...logged.values()]
}
