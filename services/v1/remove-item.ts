import { AppError } from '../../domain/errors.ts'
import { type Message, messagesFromJson } from '../../domain/messages.ts'
import { isOpenRun } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { ItemPosition } from '../../domain/responses/ids.ts'
import type { Collections } from '../collections.ts'
import { logStore } from '../stores/log.ts'
import { runStore } from '../stores/runs.ts'
import type { EraseWhatWasSaid } from '../threads/erase-what-was-said.ts'

export interface RemoveItemDeps {
  collections: Pick<Collections, 'checkpoints' | 'runs'>
  erase: EraseWhatWasSaid
}

/**
 * Removes an item of a thread from every place: a message, one of its calls with the result of a tool that the service
 * has executed, or a result of the client. False if there is no such item; throws `conflict` while its run is under way.
 */
export function createRemoveItem({ collections, erase }: RemoveItemDeps) {
  return async (thread: ThreadRecord, place: ItemPosition): Promise<boolean> => {
    const { _id: threadId, user_id: userId } = thread
    const run = await runStore(collections).findOwnedInThread(userId, { _id: place.entryId, thread_id: threadId })
    if (run !== null && isOpenRun(run))
      throw new AppError('conflict', 'The response of this item is not completed yet.')
    const entries = await logStore(collections).listOfItem(threadId, place.entryId)
    const versions = entries
      .flatMap((entry) => messagesFromJson(entry.messages_json))
      .filter(({ data }) => data.id === place.messageId)
    const left = versions.map((message) => restOf(message, place))
    if (versions.every((message, index) => left[index]?.[0] === message)) return false
    await erase(thread, {
      messageIds: [place.messageId],
      ...(left.every(({ length }) => length === 0) ? {} : { left: (message) => restOf(message, place) }),
      call: place.call ?? noCall,
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
