import { isAttached } from '../../domain/content-parts.ts'
import { type Message, messagesFromJson, messagesToJson } from '../../domain/messages.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import type { ArchivedThreads } from '../threads/archived/open.ts'
import { changedMessages } from '../threads/changed-messages.ts'

/** What is left of a message: its place. Results of its calls are left out of conversations without it. */
function tombstoneOf({ type, data }: Message): Message {
  const { id } = data
  if (type === 'AIMessage') return { type, data: { id, content: '', deleted: true } }
  const place = type === 'HumanMessage' && data.after !== undefined ? { after: data.after } : {}
  return { type: 'HumanMessage', data: { id, content: '', deleted: true, ...place } }
}

interface EraseMessageDeps extends Pick<ArchivedThreads, 'keepOpen'> {
  replaceMessage: (threadId: string, message: Message) => Promise<void>
}

/**
 * Deletes what a message of a thread says: in the thread's log, and in the run that brought it. A new entry of the log
 * tells processes that keep the conversation in memory. Safe to repeat.
 */
export function createEraseMessage(
  { checkpoints, runs, attachments }: Pick<Collections, 'checkpoints' | 'runs' | 'attachments'>,
  { replaceMessage, keepOpen }: EraseMessageDeps,
) {
  return async (threadId: string, message: Message): Promise<void> => {
    const tombstone = tombstoneOf(message)
    const isIt = (other: Message) => other.data.id === message.data.id
    const erased = (json: string) => {
      const messages = messagesFromJson(json)
      return messages.some(isIt) ? messages.map((other) => (isIt(other) ? tombstone : other)) : undefined
    }
    const own = message.type === 'HumanMessage' ? (message.data.parts ?? []).filter(isAttached) : []
    // First, so that no step that begins now reads what is being deleted.
    await replaceMessage(threadId, tombstone)
    await keepOpen(threadId)
    for await (const { _id, messages_json: json, search } of checkpoints
      .find({ thread_id: threadId }, { messages_json: 1, 'search.at': 1 })
      .lean<Pick<CheckpointRecord, '_id' | 'messages_json' | 'search'>>()
      .cursor({ batchSize: 8 })) {
      const changed = erased(json)
      if (changed !== undefined)
        await checkpoints.updateOne({ _id, thread_id: threadId }, { $set: changedMessages(changed, search) })
    }
    for await (const { _id, input_json: json } of runs
      .find({ thread_id: threadId }, { input_json: 1 })
      .lean()
      .cursor({ batchSize: 8 })) {
      const changed = erased(json)
      if (changed !== undefined)
        await runs.updateOne({ _id, thread_id: threadId }, { $set: { input_json: messagesToJson(changed) } })
    }
    const ids = own.map(({ attachment_id: id }) => id)
    if (ids.length > 0) await attachments.deleteMany({ _id: { $in: ids }, thread_id: threadId })
  }
}
