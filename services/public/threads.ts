import { checkFreeForm } from '../../domain/foreign-json.ts'
import { newId } from '../../domain/ids.ts'
import { type Message, messagesToJson } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { type CreateThread, threadRecordOf } from '../threads/create-thread.ts'
import { type NamedThreadsDeps, createNamedThreads } from './named-threads.ts'
import type { StoreKilobytes } from './stored-kilobytes.ts'

interface PublicThreadsDeps extends NamedThreadsDeps {
  createThread: CreateThread
  storeKilobytes: StoreKilobytes
}

interface NewPublicThread {
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
  const { createThread, log, storeKilobytes } = deps
  const { addMessage, ...named } = createNamedThreads(deps)

  return {
    ...named,

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
      const thread = await named.read(assistant, id)
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

    async addMessage(assistant: AssistantRecord, threadId: string, message: Message, entryId: string) {
      await named.read(assistant, threadId)
      const bytes = Buffer.byteLength(messagesToJson([message]))
      return storeKilobytes(assistant._id, bytes, () => addMessage(assistant, threadId, message, entryId))
    },
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
