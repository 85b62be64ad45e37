import { checkFreeForm } from '../../domain/free-form.ts'
import { newId } from '../../domain/ids.ts'
import { type Message, messagesToJson } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { type CreateThread, threadRecordOf } from '../threads/create-thread.ts'
import type { ThreadLog } from '../threads/log.ts'
import type { ScanLog } from '../threads/log-scan.ts'
import type { PendingInput } from '../threads/pending-input.ts'
import { findThread, missing } from './find-thread.ts'
import { type ThreadOwner, namedThreadStore } from './store.ts'
import type { StoreKilobytes } from './stored-kilobytes.ts'
import { createRunsOfThreads } from './runs-of-threads.ts'
import { createThreadMessages } from './thread-messages.ts'

interface PublicThreadsDeps {
  collections: Pick<Collections, 'threads' | 'runs'>
  createThread: CreateThread
  storeKilobytes: StoreKilobytes
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

/** Threads of public callers. Each belongs to one assistant; for any other assistant it is `not_found`. */
export function createPublicThreads(deps: PublicThreadsDeps) {
  const { collections, createThread, log, storeKilobytes } = deps
  const { addMessage, ...messages } = createThreadMessages(deps)
  const findOf = (assistant: AssistantRecord, threadId: string) => findThread(collections, assistant, threadId)

  return {
    /** Creates a thread that does not count against the owner's quota. */
    async create(assistant: AssistantRecord, { metadata, messages = [] }: NewPublicThread, id: string) {
      const metadataJson = checkFreeForm(['body', 'metadata'], metadata ?? {})
      const bytes = Buffer.byteLength(metadataJson + messagesToJson(messages))
      return storeKilobytes(assistant._id, bytes, async () => {
        const thread = await createThread({ ...newThreadOf(assistant, metadataJson), id })
        if (messages.length > 0) await log.append(id, { id, messages, source: 'update' })
        return thread
      })
    },

    /** The thread that an earlier attempt of the same request created; missing messages are added. */
    async finishCreation(assistant: AssistantRecord, { messages = [] }: NewPublicThread, id: string) {
      const thread = await findOf(assistant, id)
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

    findOf,

    setMetadata: createSetMetadata(collections),

    ...messages,
    async addMessage(assistant: AssistantRecord, threadId: string, message: Message, entryId: string) {
      await findOf(assistant, threadId)
      const bytes = Buffer.byteLength(messagesToJson([message]))
      return storeKilobytes(assistant._id, bytes, () => addMessage(assistant, threadId, message, entryId))
    },
    ...createRunsOfThreads(collections),
  }
}

/** Replaces the metadata of a thread. */
export function createSetMetadata(collections: Pick<Collections, 'threads'>) {
  const { changeOwned } = namedThreadStore(collections)
  return async (owner: ThreadOwner, threadId: string, metadata: Record<string, unknown>): Promise<ThreadRecord> => {
    const metadata_json = checkFreeForm(['body', 'metadata'], metadata)
    const thread = await changeOwned(owner, threadId, { $set: { metadata_json, updated_at: new Date() } })
    if (thread === null) throw missing('thread')
    return thread
  }
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
