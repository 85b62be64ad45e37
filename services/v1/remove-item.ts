import { AppError } from '../../domain/errors.ts'
import { type Message, messagesFromJson, messagesToJson } from '../../domain/messages.ts'
import { type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import { type ItemPlace, isOfClient } from '../../domain/responses/ids.ts'
import { attachedParts } from '../attachments/prompt-parts.ts'
import type { Collections } from '../collections.ts'
import type { RunStream } from '../runs/run-stream.ts'
import { changedMessages } from '../threads/changed-messages.ts'
import type { ArchivedThreads } from '../threads/archived/open.ts'
import type { ThreadLog } from '../threads/log.ts'

export interface RemoveItemDeps {
  collections: Pick<Collections, 'attachments' | 'checkpoints' | 'runs' | 'toolCalls'>
  log: Pick<ThreadLog, 'append'>
  stream: Pick<RunStream, 'remove'>
  archivedThreads: Pick<ArchivedThreads, 'keepOpen' | 'whole'>
}

/**
 * Removes an item of a thread from every place: the log, the input of its run, the ledger, the run's stream, and the
 * bytes of its images and files. An empty entry follows in the log, so that no process uses the conversation that it has in memory. False if there is no such
 * item; throws `conflict` while its run is under way.
 */
export function createRemoveItem({ collections, log, stream, archivedThreads }: RemoveItemDeps) {
  const { attachments, checkpoints, runs, toolCalls } = collections

  return async ({ _id: threadId, user_id: userId }: ThreadRecord, place: ItemPlace): Promise<boolean> => {
    await archivedThreads.keepOpen(threadId)
    const own = { _id: place.entryId, thread_id: threadId, user_id: userId }
    const run = await runs.findOne(own).lean<RunRecord>()
    if (run !== null && isOpenRun(run))
      throw new AppError('conflict', 'The response of this item is not completed yet.')
    const entries = await archivedThreads.whole(() =>
      checkpoints
        .find({ thread_id: threadId, $or: [{ _id: place.entryId }, { run_id: place.entryId }] })
        .select('+search')
        .lean<CheckpointRecord[]>(),
    )
    const callId = callIdIn(entries, place)
    const attached = attachmentIdsIn(entries, place)
    let isFound = false
    for (const entry of entries) {
      const left = without(entry.messages_json, place, callId)
      if (messagesToJson(left) === entry.messages_json) continue
      isFound = true
      const asRead = { _id: entry._id, thread_id: threadId, messages_json: entry.messages_json }
      const { matchedCount } = await checkpoints.updateOne(asRead, { $set: changedMessages(left, entry.search) })
      if (matchedCount === 0)
        throw new AppError('conflict', 'The conversation was changed at the same time. Try again.')
    }
    if (!isFound) return false
    if (attached.length > 0) await attachments.deleteMany({ _id: { $in: attached }, thread_id: threadId })
    if (run !== null) {
      await runs.updateOne(own, { $set: { input_json: messagesToJson(without(run.input_json, place, callId)) } })
      if (callId !== undefined) await toolCalls.deleteMany({ run_id: run._id, thread_id: threadId, call_id: callId })
      await stream.remove([run._id])
    }
    await log.append(threadId, { messages: [], source: 'update' })
    return true
  }
}

function attachmentIdsIn(entries: CheckpointRecord[], { messageId }: ItemPlace): string[] {
  const messages = entries.flatMap((entry) => messagesFromJson(entry.messages_json))
  return messages
    .filter(({ data }) => data.id === messageId)
    .flatMap(attachedParts)
    .map((part) => part.attachment_id)
}

function callIdIn(entries: CheckpointRecord[], { messageId, call }: ItemPlace): string | undefined {
  if (call === undefined) return undefined
  const messages = entries.flatMap((entry) => messagesFromJson(entry.messages_json))
  const message = messages.find(({ data }) => data.id === messageId)
  return message?.type === 'AIMessage' ? message.data.tool_calls?.[call]?.id : undefined
}

/** Messages without the item; a call of a tool that the service has executed goes with its result. */
function without(json: string, place: ItemPlace, callId: string | undefined): Message[] {
  return messagesFromJson(json).flatMap((message) =>
    message.data.id === place.messageId ? rest(message, place) : isResultOf(message, callId) ? [] : [message],
  )
}

function isResultOf(message: Message, callId: string | undefined): boolean {
  return message.type === 'ToolMessage' && message.data.tool_call_id === callId && !isOfClient(message.data.id)
}

/** What is left of a message without one of its calls, or without its text. */
function rest(message: Message, { call }: ItemPlace): Message[] {
  if (message.type !== 'AIMessage') return []
  const { tool_calls: calls = [], ...data } = message.data
  const left = call === undefined ? calls : calls.filter((_call, index) => index !== call)
  const content = call === undefined ? '' : data.content
  if (left.length === 0 && content === '') return []
  return [{ type: 'AIMessage', data: { ...data, content, ...(left.length === 0 ? {} : { tool_calls: left }) } }]
}
