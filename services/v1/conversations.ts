import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { checkMessageSize, maxMessageBytes } from '../../domain/message-size.ts'
import { type Message, messagesFromJson } from '../../domain/messages.ts'
import { isOpenRun } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import {
  type ItemPosition,
  clientMessageId,
  conversationId,
  isSameItem,
  itemPositionOf,
  threadIdOf,
} from '../../domain/responses/ids.ts'
import type { ResponseItem } from '../../domain/responses/items.ts'
import { withAttachments } from '../attachments/receive-content.ts'
import type { Collections } from '../collections.ts'
import type { PageQuery } from '../cursor-page.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import type { Caller } from '../owner.ts'
import type { Page } from '../page.ts'
import { logStore } from '../stores/log.ts'
import { runStore } from '../stores/runs.ts'
import type { CreateThread } from '../threads/create-thread.ts'
import type { EraseWhatWasSaid } from '../threads/erase-what-was-said.ts'
import type { PendingInput, ThreadLog } from '../threads/log.ts'
import { createReadItems, type Included } from './read-items.ts'
import { type FindItemsDeps, type InputEntry, createFindItems } from './responses/find-items.ts'
import { conversationStore } from './store.ts'

interface ConversationsDeps extends RemoveItemDeps, FindItemsDeps {
  collections: RemoveItemDeps['collections'] & FindItemsDeps['collections']
  createThread: CreateThread
  log: Pick<ThreadLog, 'append' | 'find'>
  pendingInput: Pick<PendingInput, 'missingFromLog'>
  storageQuota: Pick<StorageQuota, 'requireRoomForParts'>
  settings: { baseUrl: string }
  deletions: { deleteThread(caller: Caller, threadId: string): Promise<DeletionResult> }
}

/** Where items come from, and the entry that they become. */
interface ItemLocation {
  loc: string[]
  entryId?: string
}

/** Conversations of a project: threads, whose messages are shown as items. Those of another project are `not_found`. */
export function createConversations(deps: ConversationsDeps) {
  const conversations = conversationStore(deps.collections)
  const removeItem = createRemoveItem(deps)
  const read = createReadItems(deps)
  const findItems = createFindItems(deps)

  async function find(caller: Caller, id: string): Promise<ThreadRecord> {
    const thread = await conversations.find(caller, threadIdOf(id) ?? '')
    if (thread === null) throw new AppError('not_found', `There is no conversation ${id}.`)
    return thread
  }

  /** The messages of entries, under an id that is new. Throws for what cannot be added, before anything is stored. */
  async function readEntries(caller: Caller, entries: InputEntry[], { loc, entryId = newId() }: ItemLocation) {
    const found = await findItems(caller, entries, [])
    // Otherwise the decision would count as told, and the call would never be made.
    if (found.allowed.length > 0)
      throw invalidInput(loc, 'an mcp_approval_response is input of the response that makes the call', 'unsupported')
    const messages = found.input.map((message, index) => withId(message, entryId, { index, loc }))
    await deps.storageQuota.requireRoomForParts(caller.userId, found.attachments)
    return { entryId, messages, attachments: found.attachments }
  }

  /** Adds them. Returns their items. */
  async function add(thread: ThreadRecord, given: Awaited<ReturnType<typeof readEntries>>) {
    const { entryId, messages, attachments } = given
    if (messages.length === 0) return []
    const input = await deps.pendingInput.missingFromLog(thread._id)
    const owner = { thread_id: thread._id, user_id: thread.user_id, created_at: new Date() }
    const work = () => deps.log.append(thread._id, { id: entryId, messages, source: 'update', input })
    await withAttachments(deps.collections, owner, { given: attachments, work })
    return read.of(thread, entryId, { results: true })
  }

  return {
    find,

    async create(
      caller: Caller,
      { entries, metadataJson }: { entries: InputEntry[]; metadataJson: string },
      id: string,
    ): Promise<ThreadRecord> {
      // A request that is refused leaves no conversation behind.
      const given = await readEntries(caller, entries, { loc: ['body', 'items'], entryId: id })
      const thread = await deps.createThread({
        id,
        ...caller,
        name: 'Conversation',
        metadataJson,
        public: false,
        kind: 'conversation',
      })
      await add(thread, given)
      return thread
    },

    /** The conversation that an earlier attempt of the same request has created; missing items are added. */
    async finishCreation(caller: Caller, entries: InputEntry[], threadId: string): Promise<ThreadRecord> {
      const thread = await find(caller, conversationId(threadId))
      if (entries.length > 0 && (await deps.log.find(threadId, threadId)) === null)
        await add(thread, await readEntries(caller, entries, { loc: ['body', 'items'], entryId: threadId }))
      return thread
    },

    async update(caller: Caller, id: string, metadataJson: string): Promise<ThreadRecord> {
      const $set = { metadata_json: metadataJson, updated_at: new Date() }
      return (await conversations.change(caller, threadIdOf(id) ?? '', $set)) ?? find(caller, id)
    },

    async remove(caller: Caller, id: string): Promise<DeletionResult> {
      const thread = await find(caller, id)
      return deps.deletions.deleteThread(caller, thread._id)
    },

    addItems: async (caller: Caller, id: string, entries: InputEntry[]): Promise<ResponseItem[]> =>
      add(await find(caller, id), await readEntries(caller, entries, { loc: ['body', 'items'] })),

    async items(caller: Caller, id: string, page: PageQuery, included: Included): Promise<Page<ResponseItem>> {
      return read.page(await find(caller, id), page, included)
    },

    async item(caller: Caller, id: string, itemId: string, included: Included): Promise<ResponseItem> {
      const thread = await find(caller, id)
      const all = await read.of(thread, itemPositionOf(itemId)?.entryId ?? '', included)
      const found = all.find((item) => isSameItem(item.id, itemId))
      if (found === undefined) throw noItem(itemId)
      return found
    },

    async removeItem(caller: Caller, id: string, itemId: string): Promise<ThreadRecord> {
      const thread = await find(caller, id)
      const position = itemPositionOf(itemId)
      if (position === undefined || !(await removeItem(thread, position))) throw noItem(itemId)
      return thread
    },
  }
}

function noItem(id: string): AppError {
  return new AppError('not_found', `There is no item ${id}.`)
}

function withId(message: Message, entryId: string, { index, loc }: { index: number; loc: string[] }): Message {
  const own = { ...message, data: { ...message.data, id: clientMessageId(entryId, index) } } as Message
  checkMessageSize(own, maxMessageBytes.user, [...loc, index])
  return own
}

interface RemoveItemDeps {
  collections: Pick<Collections, 'checkpoints' | 'runs'>
  erase: EraseWhatWasSaid
}

/**
 * Removes an item of a thread from every place: a message, one of its calls with the result of a tool that the service
 * has executed, or a result of the client. False if there is no such item; throws `conflict` while its run is under way.
 */
function createRemoveItem({ collections, erase }: RemoveItemDeps) {
  return async (thread: ThreadRecord, position: ItemPosition): Promise<boolean> => {
    const { _id: threadId, user_id: userId } = thread
    const run = await runStore(collections).findOwnedInThread(userId, { _id: position.entryId, thread_id: threadId })
    if (run !== null && isOpenRun(run))
      throw new AppError('conflict', 'The response of this item is not completed yet.')
    const entries = await logStore(collections).listOfItem(threadId, position.entryId)
    const versions = entries
      .flatMap((entry) => messagesFromJson(entry.messages_json))
      .filter(({ data }) => data.id === position.messageId)
    const left = versions.map((message) => restOf(message, position))
    if (versions.every((message, index) => left[index]?.[0] === message)) return false
    await erase(thread, {
      messageIds: [position.messageId],
      ...(left.every(({ length }) => length === 0) ? {} : { left: (message) => restOf(message, position) }),
      call: position.call ?? noCall,
      keepsClientResults: true,
    })
    return true
  }
}

/** A message loses its text, and its calls stay: they are items of their own. */
const noCall = -1

/** What is left of a message without one of its calls, or without its text; the same if it has no such part. */
function restOf(message: Message, { call }: ItemPosition): Message[] {
  if (message.type !== 'AIMessage') return []
  const { tool_calls: calls = [], refusal, logprobs, reasoning, reasoning_seconds, ...data } = message.data
  const left = call === undefined ? calls : calls.filter((_call, index) => index !== call)
  const content = call === undefined ? '' : data.content
  const isSame = content === data.content && left.length === calls.length
  if (isSame && (call !== undefined || refusal === undefined)) return [message]
  const said = call === undefined ? {} : { refusal, logprobs, reasoning, reasoning_seconds }
  if (left.length === 0 && content === '' && said.refusal === undefined) return []
  return [
    { type: 'AIMessage', data: { ...data, ...said, content, ...(left.length === 0 ? {} : { tool_calls: left }) } },
  ]
}
