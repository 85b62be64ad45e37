import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import { checkFreeForm } from '../../domain/foreign-json.ts'
import { newId } from '../../domain/ids.ts'
import type { Message } from '../../domain/messages.ts'
import type { Metadata } from '../../domain/metadata.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { removeAttachments, storeAttachments } from '../attachments/receive-content.ts'
import type { Collections } from '../collections.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import type { Caller } from '../owner.ts'
import { findThread } from '../public/find-thread.ts'
import { type NamedThreadsDeps, createNamedThreads } from '../public/named-threads.ts'
import { type CreateThread, threadRecordOf } from '../threads/create-thread.ts'
import type { EraseWhatWasSaid } from '../threads/erase-what-was-said.ts'
import type { CodeFiles } from './code-files.ts'
import type { ReceiveMessages, ReceivedMessages, V1MessageInput } from './receive-messages.ts'
import type { ThreadResources, ThreadStores } from './thread-stores.ts'

interface V1ThreadsDeps extends NamedThreadsDeps {
  collections: Pick<Collections, 'threads' | 'runs' | 'attachments'>
  createThread: CreateThread
  deletions: { deleteThread(caller: Caller, threadId: string): Promise<DeletionResult> }
  erase: EraseWhatWasSaid
  receive: ReceiveMessages
  stores: ThreadStores
  codeFiles: CodeFiles
  storageQuota: Pick<StorageQuota, 'requireRoomForParts'>
  settings: { baseUrl: string }
}

export interface NewThread {
  metadata?: Metadata | undefined
  messages: V1MessageInput[]
  resources: ThreadResources
}

/** The place of a message in its request. */
type LocOf = (index: number) => (string | number)[]

const firstMessages: LocOf = (index) => ['body', 'messages', index]

/** The threads of a project, with their messages. They are those of the native API. */
export function createV1Threads(deps: V1ThreadsDeps) {
  const { collections, createThread, log, deletions, receive, stores, codeFiles, settings } = deps
  const { addMessage, replaceMessage, ...named } = createNamedThreads(deps)
  const find = (caller: Caller, threadId: string) => findThread(collections, caller, threadId)
  const eraseMessage = createEraseMessage(deps.erase)

  async function messageOf(caller: Caller, threadId: string, messageId: string) {
    const all = await named.messages(caller, threadId)
    return { all, found: all.find(({ message }) => message.data.id === messageId) }
  }

  /** Messages that are stored without a run. */
  async function receiveToKeep(...given: Parameters<ReceiveMessages>): Promise<ReceivedMessages> {
    const received = await receive(...given)
    await deps.storageQuota.requireRoomForParts(given[0].userId, received.attachments)
    return received
  }

  async function fill(caller: Caller, thread: ThreadRecord, received: ReceivedMessages): Promise<void> {
    const { messages } = received
    if (messages.length === 0) return
    await keep(deps, caller, thread, received, () =>
      log.append(thread._id, { id: thread._id, messages, source: 'update' }),
    )
  }

  return {
    ...named,
    receive,
    prepareStores: stores.prepare,
    plannedStores: stores.planned,
    setStores: stores.change,
    requireCodeFiles: codeFiles.require,
    setCodeFiles: codeFiles.set,
    addCodeFiles: codeFiles.add,
    linkOf: (threadId: string, attachmentId: string) =>
      `${settings.baseUrl}/threads/${threadId}/attachments/${attachmentId}/content`,

    async addMessage(caller: Caller, threadId: string, given: V1MessageInput, entryId: string) {
      const thread = await findThread(collections, caller, threadId, 'continue')
      const received = await receiveToKeep(caller, [given], () => ['body'])
      const [message] = received.messages
      if (message === undefined) throw new Error('one message was received')
      return keep(deps, caller, thread, received, () => addMessage(caller, threadId, message, entryId))
    },

    messageOf,

    async create(
      caller: Caller,
      { metadata = {}, messages: first, resources }: NewThread,
      id: string = newId(),
    ): Promise<ThreadRecord> {
      const metadataJson = checkFreeForm(['body', 'metadata'], metadata)
      // Read before anything is stored.
      const received = await receiveToKeep(caller, first, firstMessages)
      await codeFiles.require(caller, resources.codeFiles)
      const vectorStores = await stores.prepare(caller, resources)
      const named = { name: 'Thread', metadataJson, vectorStores, codeFiles: resources.codeFiles }
      const thread = await createThread({ id, ...caller, ...named, public: false })
      await fill(caller, thread, received)
      return received.fileIds.length + received.codeFiles.length > 0 ? find(caller, id) : thread
    },

    /** A thread that is stored together with its first run. Throws `not_found` for a store of another project. */
    async draft(caller: Caller, { metadata = {}, resources }: Omit<NewThread, 'messages'>): Promise<ThreadRecord> {
      const metadataJson = checkFreeForm(['body', 'metadata'], metadata)
      const { vectorStores, codeFiles: files } = resources
      await stores.prepare(caller, { vectorStores })
      await codeFiles.require(caller, files)
      const named = { name: 'Thread', metadataJson, vectorStores, codeFiles: files }
      return threadRecordOf({ id: newId(), ...caller, ...named, public: false })
    },

    /** The thread that an earlier attempt of the same request created; missing messages are added. */
    async finishCreation(caller: Caller, { messages: first }: NewThread, id: string): Promise<ThreadRecord> {
      const thread = await find(caller, id)
      if (first.length > 0 && (await log.find(id, id)) === null)
        await fill(caller, thread, await receiveToKeep(caller, first, firstMessages))
      return thread
    },

    async setMessageMetadata(caller: Caller, threadId: string, message: Message, metadata: Metadata): Promise<Message> {
      await find(caller, threadId)
      if (message.type !== 'HumanMessage' && message.type !== 'AIMessage') return message
      const changed = { ...message, data: { ...message.data, metadata } } as Message
      await replaceMessage(threadId, changed)
      return changed
    },

    async eraseMessage(caller: Caller, threadId: string, message: Message): Promise<void> {
      await eraseMessage(await find(caller, threadId), message)
    },

    remove: async (caller: Caller, threadId: string): Promise<DeletionResult> => {
      await find(caller, threadId)
      return deletions.deleteThread(caller, threadId)
    },
  }
}

/** Stores the images of messages before the messages that name them, and searches their files from now on. */
async function keep<T>(
  { collections, stores, codeFiles }: Pick<V1ThreadsDeps, 'collections' | 'stores' | 'codeFiles'>,
  caller: Caller,
  thread: ThreadRecord,
  { attachments, fileIds, codeFiles: files }: ReceivedMessages,
  add: () => Promise<T>,
): Promise<T> {
  const owner = { thread_id: thread._id, user_id: caller.userId, created_at: new Date() }
  try {
    await storeAttachments(collections, owner, attachments)
    await stores.addFiles(caller, thread, fileIds)
    await codeFiles.add(caller, thread._id, files, ['body', 'attachments'])
    return await add()
  } catch (error) {
    await removeAttachments(collections, owner, attachments)
    throw error
  }
}

/** What is left of a message: its place. Results of its calls are left out of conversations without it. */
function tombstoneOf({ type, data }: Message): Message {
  const { id } = data
  if (type === 'AIMessage') return { type, data: { id, content: '', deleted: true } }
  const place = type === 'HumanMessage' && data.after !== undefined ? { after: data.after } : {}
  return { type: 'HumanMessage', data: { id, content: '', deleted: true, ...place } }
}

/** Deletes what a message of a thread says. Safe to repeat. */
function createEraseMessage(erase: EraseWhatWasSaid) {
  return (thread: Pick<ThreadRecord, '_id' | 'user_id' | 'project_id'>, message: Message): Promise<void> =>
    erase(thread, {
      messageIds: [message.data.id],
      left: (version) => [tombstoneOf(version)],
      tombstones: [tombstoneOf(message)],
    })
}
