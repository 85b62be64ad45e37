import { addAll } from '../../domain/add-all.ts'
import { answerEntry } from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import { type Message, messagesToJson, storedMessagesFromJson, withoutMetadata } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { isOfClient } from '../../domain/responses/ids.ts'
import { wordsOf } from '../../domain/search/message-terms.ts'
import { attachedParts } from '../attachments/prompt-parts.ts'
import type { Collections } from '../collections.ts'
import { attachmentStore } from '../stores/attachments.ts'
import { idempotencyStore } from '../stores/idempotency.ts'
import { logStore } from '../stores/log.ts'
import { runStore } from '../stores/runs.ts'
import { toolCallStore } from '../stores/tool-calls.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { PendingInput, ThreadLog } from './log.ts'
import { startThreadDeletion } from './start-thread-deletion.ts'

interface EraseWhatWasSaidDeps {
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

/** Which words of a thread are deleted. */
interface Erasure {
  messageIds: readonly string[]
  /** What is left of one of these messages, in each of its versions. Default: nothing. */
  left?: (message: Message) => Message[]
  /** The number of the only call that goes, with its result. Default: all calls of these messages go. */
  call?: number
  /** What is shown in the place of the messages. */
  tombstones?: Message[]
  /** Results that the client has sent stay: they are items of their own. */
  keepsClientResults?: boolean
}

/** Ids by which an entry is passed over without parsing it; more are not cheaper than that. */
const maxSoughtIds = 20

interface Change {
  left: Message[]
  /** Messages of which something goes, as they were. */
  gone: Message[]
  /** The numbers of the calls that go. */
  calls: number[]
}

/**
 * Applies an erasure to texts of a log, oldest first. Results follow their calls, and the id of a call may come again:
 * a later call with this id ends what belongs to the first.
 */
function eraser(
  { messageIds, left = () => [], call: onlyCall, keepsClientResults = false }: Erasure,
  callsBefore: ReadonlySet<string> = new Set(),
) {
  const ids = new Set(messageIds)
  const openCalls = new Set(callsBefore)

  function isConcerned(json: string): boolean {
    const sought = [...ids, ...openCalls]
    return sought.length > maxSoughtIds || sought.some((id) => json.includes(JSON.stringify(id).slice(1, -1)))
  }

  function restOf(message: Message, change: Change): Message[] {
    if (ids.has(message.data.id)) {
      const calls = message.type === 'AIMessage' ? (message.data.tool_calls ?? []) : []
      calls.forEach(({ id }, index) => {
        if (onlyCall !== undefined && onlyCall !== index) return
        openCalls.add(id)
        change.calls.push(index)
      })
      // What its provider must get back was about the whole message.
      return left(message).map((rest) => (rest === message ? rest : withoutMetadata(rest)))
    }
    if (message.type === 'AIMessage') for (const { id } of message.data.tool_calls ?? []) openCalls.delete(id)
    if (message.type !== 'ToolMessage' || !openCalls.has(message.data.tool_call_id)) return [message]
    return keepsClientResults && isOfClient(message.data.id) ? [message] : []
  }

  return {
    openCalls,
    /** Undefined if nothing in it is concerned. */
    apply(json: string): Change | undefined {
      if (!isConcerned(json)) return undefined
      const change: Change = { left: [], gone: [], calls: [] }
      for (const message of storedMessagesFromJson(json)) {
        const rest = restOf(message, change)
        addAll(change.left, rest)
        if (rest.length !== 1 || rest[0] !== message) change.gone.push(message)
      }
      return messagesToJson(change.left) === json ? undefined : change
    },
  }
}
