import { checkFreeForm } from '../../domain/free-form.ts'
import { newId } from '../../domain/ids.ts'
import type { Message } from '../../domain/messages.ts'
import type { Metadata } from '../../domain/metadata.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import type { DeletionResult } from '../deletion/requests.ts'
import { findThread } from '../public/find-thread.ts'
import { createThreadMessages } from '../public/thread-messages.ts'
import { createSetMetadata } from '../public/threads.ts'
import type { CreateThread } from '../threads/create-thread.ts'
import type { ThreadLog } from '../threads/log.ts'
import type { ScanLog } from '../threads/log-scan.ts'
import type { PendingInput } from '../threads/pending-input.ts'
import { createEraseMessage } from './erase-message.ts'

interface V1ThreadsDeps {
  collections: Pick<Collections, 'threads' | 'runs' | 'checkpoints'>
  createThread: CreateThread
  log: Pick<ThreadLog, 'append' | 'find'>
  scanLog: ScanLog
  pendingInput: Pick<PendingInput, 'missingFromLog'>
  deletions: { deleteThread(userId: string, threadId: string): Promise<DeletionResult> }
}

interface NewThread {
  metadata?: Metadata | undefined
  messages: Message[]
}

/** The threads of a project, with their messages. They are those of the native API. */
export function createV1Threads(deps: V1ThreadsDeps) {
  const { collections, createThread, log, deletions } = deps
  const { messages, messagesOfRun, addMessage, addedMessage, replaceMessage } = createThreadMessages(deps)
  const find = (caller: Caller, threadId: string) => findThread(collections, caller, threadId)
  const eraseMessage = createEraseMessage(collections, replaceMessage)

  async function messageOf(caller: Caller, threadId: string, messageId: string) {
    const all = await messages(caller, threadId)
    return { all, found: all.find(({ message }) => message.data.id === messageId) }
  }

  return {
    find,
    messages,
    messagesOfRun,
    addMessage,
    addedMessage,
    messageOf,

    async create(caller: Caller, { metadata = {}, messages: first }: NewThread, id: string = newId()) {
      const metadataJson = checkFreeForm(['body', 'metadata'], metadata)
      const thread = await createThread({ id, ...caller, name: 'Thread', metadataJson, public: false })
      if (first.length > 0) await log.append(id, { id, messages: first, source: 'update' })
      return thread
    },

    /** The thread that an earlier attempt of the same request created; missing messages are added. */
    async finishCreation(caller: Caller, { messages: first }: NewThread, id: string): Promise<ThreadRecord> {
      const thread = await find(caller, id)
      if (first.length > 0 && (await log.find(id, id)) === null)
        await log.append(id, { id, messages: first, source: 'update' })
      return thread
    },

    setMetadata: createSetMetadata(collections),

    async setMessageMetadata(threadId: string, message: Message, metadata: Metadata): Promise<Message> {
      if (message.type !== 'HumanMessage' && message.type !== 'AIMessage') return message
      const changed = { ...message, data: { ...message.data, metadata } } as Message
      await replaceMessage(threadId, changed)
      return changed
    },

    eraseMessage,

    remove: async (caller: Caller, threadId: string): Promise<DeletionResult> => {
      await find(caller, threadId)
      return deletions.deleteThread(caller.userId, threadId)
    },
  }
}
