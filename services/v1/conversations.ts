import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type CitedFile, citedFilesOf } from '../../domain/knowledge/citations.ts'
import { checkMessageSize, maxMessageBytes } from '../../domain/message-size.ts'
import type { Message } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { clientMessageId, itemPlaceOf, threadIdOf } from '../../domain/responses/ids.ts'
import { type ItemContext, itemsOf } from '../../domain/responses/items-of.ts'
import type { ResponseItem } from '../../domain/responses/items.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import { removeAttachments, storeAttachments } from '../attachments/store-attachments.ts'
import { type PageQuery, pageOf } from '../cursor-page.ts'
import type { DeletionResult } from '../deletion/requests.ts'
import type { Page } from '../page.ts'
import type { CreateThread } from '../threads/create-thread.ts'
import type { ScanLog } from '../threads/log-scan.ts'
import type { PendingInput } from '../threads/pending-input.ts'
import { type RemoveItemDeps, createRemoveItem } from './remove-item.ts'
import { type FindItemsDeps, type InputEntry, createFindItems } from './responses/find-items.ts'

interface ConversationsDeps extends RemoveItemDeps, FindItemsDeps {
  collections: RemoveItemDeps['collections'] & FindItemsDeps['collections']
  createThread: CreateThread
  scanLog: ScanLog
  pendingInput: Pick<PendingInput, 'missingFromLog'>
  deletions: { deleteThread(userId: string, threadId: string): Promise<DeletionResult> }
}

interface Included {
  /** Results of searches are shown. */
  results: boolean
}

/** Conversations of a project: threads, whose messages are shown as items. Those of another project are `not_found`. */
export function createConversations(deps: ConversationsDeps) {
  const { threads } = deps.collections
  const removeItem = createRemoveItem(deps)
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

  async function itemsIn(thread: ThreadRecord, { results }: Included): Promise<ResponseItem[]> {
    const logged = new Map<string, { message: Message; runId: string | undefined }>()
    await deps.scanLog({ filter: { thread_id: thread._id }, userId: thread.user_id }, (entry, messages) => {
      for (const { message } of messages) logged.set(message.data.id, { message, runId: entry.run_id })
    })
    const all = [...logged.values()]
    const runIds = new Set(all.flatMap(({ runId }) => runId ?? []))
    const cited = citedFilesOf(runIds, all)
    const context: ItemContext = {
      cited: ({ data: { id } }): CitedFile[] => cited.get(logged.get(id)?.runId ?? '') ?? [],
      functions: undefined,
      serverLabels: [],
      withResults: results,
      isOpen: false,
    }
    return itemsOf(
      all.map(({ message }) => message),
      context,
    )
  }

  /** Adds messages under an id that is new. Returns their items. */
  async function add(caller: Caller, thread: ThreadRecord, entries: InputEntry[], loc: string[]) {
    const entryId = newId()
    const found = await findItems(caller, entries, [])
    const messages = found.input.map((message, index): Message => {
      const own = { ...message, data: { ...message.data, id: clientMessageId(entryId, index) } } as Message
      checkMessageSize(own, maxMessageBytes.user, [...loc, index])
      return own
    })
    if (messages.length === 0) return []
    const input = await deps.pendingInput.missingFromLog(thread._id)
    const place = { thread_id: thread._id, user_id: thread.user_id, created_at: new Date() }
    try {
      await storeAttachments(deps.collections, place, found.attachments)
      await deps.log.append(thread._id, { id: entryId, messages, source: 'update', input })
    } catch (error) {
      await removeAttachments(deps.collections, found.attachments)
      throw error
    }
    const ids = new Set(messages.map(({ data }) => data.id))
    return (await itemsIn(thread, { results: true })).filter(({ id }) => ids.has(itemPlaceOf(id)?.messageId ?? ''))
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
      await add(caller, thread, entries, ['body', 'items'])
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
      add(caller, await find(caller, id), entries, ['body', 'items']),

    async items(caller: Caller, id: string, page: PageQuery, included: Included): Promise<Page<ResponseItem>> {
      const all = await itemsIn(await find(caller, id), included)
      return pageOf(all, (item) => item.id, page)
    },

    async item(caller: Caller, id: string, itemId: string, included: Included): Promise<ResponseItem> {
      const all = await itemsIn(await find(caller, id), included)
      const found = all.find((item) => item.id === itemId)
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
