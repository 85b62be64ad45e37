import { attachmentStore } from '../stores/attachments.ts'
import { idempotencyStore } from '../stores/idempotency.ts'
import { logStore } from '../stores/log.ts'
import { runStore } from '../stores/runs.ts'
import { toolCallStore } from '../stores/tool-calls.ts'
import { AppError } from '../../domain/errors.ts'
import { type Message, messagesToJson } from '../../domain/messages.ts'
import { answerEntry } from '../../domain/contracts/thread.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { attachedParts } from '../attachments/prompt-parts.ts'
import type { Collections } from '../collections.ts'
import { startThreadDeletion } from './start-thread-deletion.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { type Erasure, eraser } from './erasure.ts'
import type { ThreadLog } from './log.ts'
import type { PendingInput } from './pending-input.ts'
import { wordsOf } from '../../domain/search/message-terms.ts'

export interface EraseWhatWasSaidDeps {
  collections: Pick<Collections, 'attachments' | 'checkpoints' | 'idempotencyKeys' | 'runs' | 'toolCalls'>
  log: Pick<ThreadLog, 'append'>
  pendingInput: Pick<PendingInput, 'missingFromLog'>
  /** Versions of documents that messages have written. */
  documents: { removeOfMessages(threadId: string, messageIds: readonly string[]): Promise<void> }
  /** What the streams of runs say. */
  stream: { erase(runIds: string[]): Promise<void> }
  workflows: Pick<WorkflowClient, 'start'>
}

type Owner = Pick<ThreadRecord, '_id' | 'user_id' | 'project_id'>
export type EraseWhatWasSaid = ReturnType<typeof createEraseWhatWasSaid>

/**
 * Deletes words of a thread that stays, wherever they are: in its log, in the inputs of its runs, in the ledger of calls
 * with their results, in the threads of assistants that these calls asked, in streams, in bytes of images and files, and
 * in answers that are kept for repeated requests. From its first write on, the log takes no more message under these ids.
 * The log is rewritten last, because it leads to all other places: an erasure that was cut off can be repeated.
 * Throws `conflict` while a run is under way that the messages belong to.
 */
export function createEraseWhatWasSaid(deps: EraseWhatWasSaidDeps) {
  const { documents, log, pendingInput, stream, workflows } = deps
  const entriesOf = logStore(deps.collections)
  const runs = runStore(deps.collections)
  const calls = toolCallStore(deps.collections)

  /** What else has to go, as the log tells it. */
  async function find(threadId: string, erasure: Erasure) {
    const found = { entries: new Map<string, ReadonlySet<string>>(), runIds: new Set<string>() }
    const attached = new Set<string>()
    const called: { run_id: string; step: number; index: number }[] = []
    const words = eraser(erasure)
    for await (const entry of entriesOf.openErasable(threadId)) {
      const before = new Set(words.openCalls)
      const change = words.apply(entry.messages_json)
      if (change === undefined) continue
      found.entries.set(entry._id, before)
      if (entry.run_id !== undefined) found.runIds.add(entry.run_id)
      for (const message of change.gone) for (const part of attachedParts(message)) attached.add(part.attachment_id)
      if (entry.run_id !== undefined && entry.source === 'step' && entry.step !== undefined)
        for (const index of change.calls) called.push({ run_id: entry.run_id, step: stepOf(entry.step), index })
    }
    return { ...found, attached, called }
  }

  async function eraseCalls(thread: Owner, called: { run_id: string; step: number; index: number }[]): Promise<void> {
    for (const place of called) {
      const call = await calls.findInThread(thread._id, place)
      if (call === null) continue
      if (call.asked !== undefined) await startThreadDeletion(workflows, { ...thread, _id: call.asked.thread_id })
      await calls.remove(call)
    }
  }

  async function eraseInputs(threadId: string, erasure: Erasure): Promise<void> {
    for await (const { _id } of runs.openIdsInThread(threadId))
      for (;;) {
        const key = { _id, thread_id: threadId }
        const input = await runs.inputInThread(key)
        const change = input === undefined ? undefined : eraser(erasure).apply(input)
        if (input === undefined || change === undefined) break
        await runs.replaceInput(key, input, messagesToJson(change.left))
      }
  }

  /** Another deletion may change the same entry: what it has removed is not written again. */
  async function eraseEntry(threadId: string, id: string, openCalls: ReadonlySet<string>, erasure: Erasure) {
    for (;;) {
      const entry = await entriesOf.findErasable(threadId, id)
      const change = entry === null ? undefined : eraser(erasure, openCalls).apply(entry.messages_json)
      if (entry === null || change === undefined) return
      await entriesOf.change(threadId, entry, changedMessages(change.left, entry.search))
    }
  }

  return async (thread: Owner, erasure: Erasure): Promise<void> => {
    const threadId = thread._id
    const { messageIds, left, tombstones = [] } = erasure
    await refuseOpenRuns(deps.collections, threadId, erasure)
    const note = async (messages: Message[]) =>
      log.append(threadId, {
        messages,
        source: 'update',
        input: await pendingInput.missingFromLog(threadId),
        pastLimit: true,
        // A message that keeps a part may come again.
        erases: left === undefined || tombstones.length > 0 ? messageIds : [],
      })
    // First, so that no step that begins now reads what is being deleted, and nothing brings it back.
    await note(tombstones)
    const { entries, runIds, attached, called } = await find(threadId, erasure)
    await eraseInputs(threadId, erasure)
    await eraseCalls(thread, called)
    await attachmentStore(deps.collections).remove(threadId, [...attached])
    await stream.erase([...runIds])
    if (erasure.call === undefined) await documents.removeOfMessages(threadId, messageIds)
    // A repeated request gets its answer from what is left.
    await idempotencyStore(deps.collections).forgetAnswersAbout([threadId, ...entries.keys(), ...runIds])
    // Newest first: an answer leads to the results of its calls.
    for (const [id, openCalls] of [...entries].toReversed()) await eraseEntry(threadId, id, openCalls, erasure)
    // So that no process uses the conversation that it has read meanwhile.
    if (tombstones.length === 0) await note([])
  }
}

/** The number of the step whose answer is this entry of its run. */
const stepOf = (entry: number) => (entry - answerEntry(0)) / 2

async function refuseOpenRuns(
  collections: EraseWhatWasSaidDeps['collections'],
  threadId: string,
  erasure: Erasure,
): Promise<void> {
  const open = await runStore(collections).listOpenInputs(threadId)
  const isIn = (json: string) => eraser(erasure).apply(json) !== undefined
  let isOpen = open.some(({ input_json: json }) => isIn(json))
  if (open.length > 0 && !isOpen) {
    const entries = logStore(collections).openErasable(
      threadId,
      open.map(({ _id }) => _id),
    )
    for await (const { messages_json: json } of entries) isOpen ||= isIn(json)
  }
  if (isOpen) throw new AppError('conflict', 'The run of this message is still under way.')
}

/** What is set in an entry of a log whose messages were changed. `search`: the entry is found by its words. */
function changedMessages(messages: readonly Message[], search: object | undefined) {
  const changed = { messages_json: messagesToJson(messages) }
  return search === undefined ? changed : { ...changed, 'search.words': wordsOf(messages) }
}
