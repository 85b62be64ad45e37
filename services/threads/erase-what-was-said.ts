import { AppError } from '../../domain/errors.ts'
import { type Message, messagesToJson } from '../../domain/messages.ts'
import { answerEntry } from '../../domain/contracts/thread.ts'
import { openRunStatuses } from '../../domain/records/run.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import { attachedParts } from '../attachments/prompt-parts.ts'
import type { Collections } from '../collections.ts'
import { startThreadDeletion } from './start-thread-deletion.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { changedMessages } from './changed-messages.ts'
import { type Erasure, eraser } from './erasure.ts'
import type { ThreadLog } from './log.ts'
import type { PendingInput } from './pending-input.ts'

export interface EraseWhatWasSaidDeps {
  collections: Pick<Collections, 'attachments' | 'checkpoints' | 'idempotencyKeys' | 'runs' | 'toolCalls'>
  log: Pick<ThreadLog, 'append'>
  pendingInput: Pick<PendingInput, 'missingFromLog'>
  /** What the streams of runs say. */
  stream: { erase(runIds: string[]): Promise<void> }
  workflows: Pick<WorkflowClient, 'start'>
}

type Owner = Pick<ThreadRecord, '_id' | 'user_id' | 'project_id'>
type Entry = Pick<CheckpointRecord, '_id' | 'run_id' | 'step' | 'source' | 'messages_json' | 'search'>
export type EraseWhatWasSaid = ReturnType<typeof createEraseWhatWasSaid>

/**
 * Deletes words of a thread that stays, wherever they are: in its log, in the inputs of its runs, in the ledger of calls
 * with their results, in the threads of assistants that these calls asked, in streams, in bytes of images and files, and
 * in answers that are kept for repeated requests. From its first write on, the log takes no more message under these ids.
 * The log is rewritten last, because it leads to all other places: an erasure that was cut off can be repeated.
 * Throws `conflict` while a run is under way that the messages belong to.
 */
export function createEraseWhatWasSaid(deps: EraseWhatWasSaidDeps) {
  const { log, pendingInput, stream, workflows } = deps
  const { attachments, checkpoints, idempotencyKeys, runs, toolCalls } = deps.collections

  /** What else has to go, as the log tells it. */
  async function find(threadId: string, erasure: Erasure) {
    const found = { entries: new Map<string, ReadonlySet<string>>(), runIds: new Set<string>() }
    const attached = new Set<string>()
    const called: { run_id: string; step: number; index: number }[] = []
    const words = eraser(erasure)
    for await (const entry of entriesOf(checkpoints, { thread_id: threadId })) {
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
      const call = await toolCalls.findOne({ ...place, thread_id: thread._id }).lean<ToolCallRecord>()
      if (call === null) continue
      if (call.asked !== undefined) await startThreadDeletion(workflows, { ...thread, _id: call.asked.thread_id })
      await toolCalls.deleteOne({ _id: call._id, thread_id: thread._id })
    }
  }

  async function eraseInputs(threadId: string, erasure: Erasure): Promise<void> {
    for await (const { _id } of runs.find({ thread_id: threadId }, { _id: 1 }).lean().cursor({ batchSize: 50 }))
      for (;;) {
        const run = await runs.findOne({ _id, thread_id: threadId }, { input_json: 1 }).lean<{ input_json: string }>()
        const change = run === null ? undefined : eraser(erasure).apply(run.input_json)
        if (run === null || change === undefined) break
        const asRead = { _id, thread_id: threadId, input_json: run.input_json }
        await runs.updateOne(asRead, { $set: { input_json: messagesToJson(change.left) } })
      }
  }

  /** Another deletion may change the same entry: what it has removed is not written again. */
  async function eraseEntry(threadId: string, id: string, openCalls: ReadonlySet<string>, erasure: Erasure) {
    for (;;) {
      const [entry] = await checkpoints
        .find({ _id: id, thread_id: threadId }, { messages_json: 1, 'search.at': 1 })
        .lean<Entry[]>()
      const change = entry === undefined ? undefined : eraser(erasure, openCalls).apply(entry.messages_json)
      if (entry === undefined || change === undefined) return
      const asRead = { _id: id, thread_id: threadId, messages_json: entry.messages_json }
      await checkpoints.updateOne(asRead, { $set: changedMessages(change.left, entry.search) })
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
    if (attached.size > 0) await attachments.deleteMany({ _id: { $in: [...attached] }, thread_id: threadId })
    await stream.erase([...runIds])
    // A repeated request gets its answer from what is left.
    await idempotencyKeys.updateMany(
      { subjects: { $in: [threadId, ...entries.keys(), ...runIds] }, outcome: 'answered' },
      { $set: { outcome: 'followed' }, $unset: { answer: 1 } },
    )
    // Newest first: an answer leads to the results of its calls.
    for (const [id, openCalls] of [...entries].toReversed()) await eraseEntry(threadId, id, openCalls, erasure)
    // So that no process uses the conversation that it has read meanwhile.
    if (tombstones.length === 0) await note([])
  }
}

/** The number of the step whose answer is this entry of its run. */
const stepOf = (entry: number) => (entry - answerEntry(0)) / 2

/** Oldest first, as they are at that moment. */
function entriesOf(checkpoints: Collections['checkpoints'], filter: { thread_id: string; run_id?: { $in: string[] } }) {
  return checkpoints
    .find(filter, { run_id: 1, step: 1, source: 1, messages_json: 1, 'search.at': 1 })
    .sort({ seq: 1 })
    .lean<Entry>()
    .cursor({ batchSize: 8 })
}

async function refuseOpenRuns(
  { checkpoints, runs }: EraseWhatWasSaidDeps['collections'],
  threadId: string,
  erasure: Erasure,
): Promise<void> {
  const open = await runs
    .find({ thread_id: threadId, status: { $in: [...openRunStatuses] } }, { input_json: 1 })
    .lean<{ _id: string; input_json: string }[]>()
  const isIn = (json: string) => eraser(erasure).apply(json) !== undefined
  let isOpen = open.some(({ input_json: json }) => isIn(json))
  if (open.length > 0 && !isOpen) {
    const ofOpen = { thread_id: threadId, run_id: { $in: open.map(({ _id }) => _id) } }
    for await (const { messages_json: json } of entriesOf(checkpoints, ofOpen)) isOpen ||= isIn(json)
  }
  if (isOpen) throw new AppError('conflict', 'The run of this message is still under way.')
}
