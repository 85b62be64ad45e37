import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { checkMessageSize, maxMessageBytes } from '../../domain/message-size.ts'
import type { Message } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { clientMessageId, conversationId, isSameItem, itemPlaceOf, threadIdOf } from '../../domain/responses/ids.ts'
import type { ResponseItem } from '../../domain/responses/items.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import { withAttachments } from '../attachments/store-attachments.ts'
import type { PageQuery } from '../cursor-page.ts'
import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import type { Page } from '../page.ts'
import type { CreateThread } from '../threads/create-thread.ts'
import type { ThreadLog } from '../threads/log.ts'
import type { PendingInput } from '../threads/pending-input.ts'
import { createReadItems } from './read-items.ts'
import { type RemoveItemDeps, createRemoveItem } from './remove-item.ts'
import { type FindItemsDeps, type InputEntry, createFindItems } from './responses/find-items.ts'

interface ConversationsDeps extends RemoveItemDeps, FindItemsDeps {
  collections: RemoveItemDeps['collections'] & FindItemsDeps['collections']
  createThread: CreateThread
  log: Pick<ThreadLog, 'append' | 'find'>
  pendingInput: Pick<PendingInput, 'missingFromLog'>
  settings: { baseUrl: string }
  deletions: { deleteThread(userId: string, threadId: string): Promise<DeletionResult> }
}

interface Included {
  /** Results of searches are shown. */
  results: boolean
  /** And the addresses that a web search has found. */
  sources?: boolean
  /** And the probabilities of tokens. */
  logprobs?: boolean
  /** And what code has printed and drawn. */
  outputs?: boolean
}

/** Where items come from, and the entry that they become. */
interface Place {
  loc: string[]
  entryId?: string
}

/** Conversations of a project: threads, whose messages are shown as items. Those of another project are `not_found`. */
export function createConversations(deps: ConversationsDeps) {
  const { threads } = deps.collections
  const removeItem = createRemoveItem(deps)
  const read = createReadItems(deps)
  const findItems = createFindItems(deps)
  const ownOf = ({ userId, projectId }: Caller, id: string) => ({
    _id: threadIdOf(id) ?? '',
    user_id: userId,
    project_id: projectId,
    kind: 'conversation' as const,
    deleting: { $ne: true },
  })

  async function find(caller: Caller, id: string): Promise<ThreadRecord> {
    const thread = await threads.findOne(ownOf(caller, id)).lean<ThreadRecord>()
    if (thread === null) throw new AppError('not_found', `There is no conversation ${id}.`)
    return thread
  }

  /** Adds messages under an id that is new. Returns their items. */
  async function add(caller: Caller, thread: ThreadRecord, entries: InputEntry[], { loc, entryId = newId() }: Place) {
    const found = await findItems(caller, entries, [])
    // Otherwise the decision would count as told, and the call would never be made.
    if (found.allowed.length > 0)
      throw invalidInput(loc, 'an mcp_approval_response is input of the response that makes the call', 'unsupported')
    const messages = found.input.map((message, index) => withId(message, entryId, { index, loc }))
    if (messages.length === 0) return []
    const input = await deps.pendingInput.missingFromLog(thread._id)
    const place = { thread_id: thread._id, user_id: thread.user_id, created_at: new Date() }
    const work = () => deps.log.append(thread._id, { id: entryId, messages, source: 'update', input })
    await withAttachments(deps.collections, place, { given: found.attachments, work })
    return read.of(thread, entryId, { results: true })
  }

  return {
    find,

    async create(
      caller: Caller,
      { entries, metadataJson }: { entries: InputEntry[]; metadataJson: string },
      id: string,
    ): Promise<ThreadRecord> {
      const thread = await deps.createThread({
        id,
        ...caller,
        name: 'Conversation',
        metadataJson,
        public: false,
        kind: 'conversation',
      })
      await add(caller, thread, entries, { loc: ['body', 'items'], entryId: id })
      return thread
    },

    /** The conversation that an earlier attempt of the same request has created; missing items are added. */
    async finishCreation(caller: Caller, entries: InputEntry[], threadId: string): Promise<ThreadRecord> {
      const thread = await find(caller, conversationId(threadId))
      if (entries.length > 0 && (await deps.log.find(threadId, threadId)) === null)
        await add(caller, thread, entries, { loc: ['body', 'items'], entryId: threadId })
      return thread
    },

    async update(caller: Caller, id: string, metadataJson: string): Promise<ThreadRecord> {
      const thread = await threads
        .findOneAndUpdate(
          ownOf(caller, id),
          { $set: { metadata_json: metadataJson, updated_at: new Date() } },
          { returnDocument: 'after' },
        )
        .lean<ThreadRecord>()
      return thread ?? find(caller, id)
    },

    async remove(caller: Caller, id: string): Promise<DeletionResult> {
      const thread = await find(caller, id)
      return deps.deletions.deleteThread(caller.userId, thread._id)
    },

    addItems: async (caller: Caller, id: string, entries: InputEntry[]): Promise<ResponseItem[]> =>
      add(caller, await find(caller, id), entries, { loc: ['body', 'items'] }),

    async items(caller: Caller, id: string, page: PageQuery, included: Included): Promise<Page<ResponseItem>> {
      return read.page(await find(caller, id), page, included)
    },

    async item(caller: Caller, id: string, itemId: string, included: Included): Promise<ResponseItem> {
      const thread = await find(caller, id)
      const all = await read.of(thread, itemPlaceOf(itemId)?.entryId ?? '', included)
      const found = all.find((item) => isSameItem(item.id, itemId))
      if (found === undefined) throw noItem(itemId)
      return found
    },

    async removeItem(caller: Caller, id: string, itemId: string): Promise<ThreadRecord> {
      const thread = await find(caller, id)
      const place = itemPlaceOf(itemId)
      if (place === undefined || !(await removeItem(thread, place))) throw noItem(itemId)
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
