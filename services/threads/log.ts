import type { ClientSession } from 'mongoose'
import { inputEntry, toolsEntry } from '../../domain/contracts/thread.ts'
import { toolMessageOf } from '../../domain/conversation.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { derivedId, newId } from '../../domain/ids.ts'
import { type Message, messagesFromJson, messagesToJson, systemMessageInJson } from '../../domain/messages.ts'
import { type RunKey, type RunRecord, runKey } from '../../domain/records/run.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import { messageTerms, wordsOf } from '../../domain/search/message-terms.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { logStore } from '../stores/log.ts'
import { type OpenInput, runStore } from '../stores/runs.ts'
import { threadStore } from '../stores/threads.ts'
import { toolCallStore } from '../stores/tool-calls.ts'
import type { RunInTransaction } from '../transactions.ts'

/** Maximum size of a thread's log. A database record holds 16 MB. */
export const threadMaxBytes = 64 * 1024 * 1024

/** Throws `invalid_input` if this much more does not fit into the thread. */
export function requireRoom({ log_bytes: used = 0 }: Pick<ThreadRecord, 'log_bytes'>, bytes: number): void {
  if (used + bytes > threadMaxBytes) throw threadFull()
}

function threadFull() {
  const message = `a thread holds at most ${threadMaxBytes / (1024 * 1024)} MB of messages, and this one is full: start a new thread`
  return invalidInput(['body'], message, 'thread_full')
}

export interface LogEntry {
  messages: Message[]
  source: CheckpointRecord['source']
  /** The id of the entry; a new one when it is not given. */
  id?: string
  /** With `step` it makes the append idempotent: a repeat gives back the entry that is there. */
  runId?: string
  /** Number of the entry within its run. */
  step?: number
  /** The model of an answer, so that its tokens can be priced. */
  model?: string | undefined
  /** Stored in front of the entry, unless the log holds it: the input of the step that it answers. */
  input?: InputEntry | undefined
  /** What else changes in the thread's own record. */
  thread?: Partial<Pick<ThreadRecord, 'last_outcome'>>
  /**
   * Messages that are deleted with this entry, by their ids: from now on the log takes no other message under them. The
   * newest thousand are remembered, so that nothing that is under way beside a deletion restores what it deletes.
   */
  erases?: readonly string[]
  /** Written even if the thread is full, because a run could not continue or end without it. */
  pastLimit?: boolean
  /**
   * Further writes in the same transaction, such as the check of a run's fence. It throws
   * to refuse. It may run more than once.
   */
  guard?: (session: ClientSession) => Promise<void>
}

/** An entry that was appended. */
export interface Appended {
  record: CheckpointRecord
  /** False if the entry was there already; then nothing was written. */
  isNew: boolean
  /** The first number that this append took: that of the input if one was stored in front of the entry. */
  firstSeq: number
}

/**
 * An entry whose words cannot be found out is stored without any: what was said is worth more than its being found.
 */
function foundWordsOf(messages: readonly Message[]): string[] {
  try {
    return wordsOf(messages)
  } catch {
    return []
  }
}

export type ThreadLog = ReturnType<typeof createThreadLog>

interface LogDeps {
  collections: Pick<Collections, 'threads' | 'checkpoints'>
  transaction: RunInTransaction
}

/**
 * The append-only log of a thread. Each append also touches the thread's own record in the same
 * transaction: it takes the next number there, so that two appends never take the same one, and a
 * thread that is being deleted takes no more (the deletion's fence is a write to that record too).
 */
export function createThreadLog({ collections, transaction }: LogDeps) {
  const log = logStore(collections)
  const earlier = async (threadId: string, runId: string | undefined, step: number) =>
    runId === undefined ? null : log.findStep(threadId, runId, step)

  async function store(threadId: string, entry: LogEntry): Promise<Appended> {
    const {
      messages,
      source,
      id = newId(),
      runId,
      step = 0,
      model,
      input,
      guard,
      thread: changes,
      pastLimit = false,
      erases = [],
    } = entry
    const givenJson = messagesToJson(messages)
    const bytes = Buffer.byteLength(givenJson) + (input === undefined ? 0 : Buffer.byteLength(input.messages_json))
    const hasSystem = [givenJson, input?.messages_json ?? ''].some((json) => systemMessageInJson.test(json))
    const systemFlag = hasSystem ? { has_system: true } : {}
    // Before the transaction, which must be short. A message that was erased meanwhile leaves no words.
    const knownWords = new Map([[givenJson, foundWordsOf(messages)]])
    if (input !== undefined) knownWords.set(input.messages_json, foundWordsOf(messagesFromJson(input.messages_json)))
    return transaction(async (session) => {
      const now = new Date()
      const change = { bytes, entries: input === undefined ? 1 : 2, $set: { ...changes, ...systemFlag }, erases }
      const thread = await threadStore(collections).takeNumbers(threadId, { id, now, ...change }, session)
      if (thread === null) throw new AppError('not_found', 'There is no such thread.')
      if (!pastLimit && (thread.log_bytes ?? 0) > threadMaxBytes) throw threadFull()
      await guard?.(session)
      const seq = thread.last_seq ?? 1
      const left = erases.length > 0 ? messages : withoutErased(messages, thread)
      const record: CheckpointRecord = {
        _id: id,
        thread_id: threadId,
        seq,
        messages_json: left === messages ? givenJson : messagesToJson(left),
        source,
        ...(runId === undefined ? {} : { run_id: runId, step }),
        ...(model === undefined ? {} : { model }),
        created_at: now,
      }
      const records = input === undefined ? [record] : [{ ...inputWithoutErased(input, thread), seq: seq - 1 }, record]
      const stored = records.map((each) => {
        const words = knownWords.get(each.messages_json) ?? foundWordsOf(messagesFromJson(each.messages_json))
        const search = messageTerms(thread, each, words)
        return search === undefined ? each : { ...each, search }
      })
      await log.addAll(stored, session)
      return { record, isNew: true, firstSeq: seq - records.length + 1 }
    })
  }

  return {
    /**
     * Adds an entry, unless it is there already. Throws `not_found` for a thread that is missing or being deleted,
     * `invalid_input` for one that is full.
     */
    async append(threadId: string, entry: LogEntry): Promise<Appended> {
      try {
        return await store(threadId, entry)
      } catch (error) {
        // The unique index finds a repeat. Repeats are rare, so appends do not look for one first.
        if (!isDuplicateKey(error)) throw error
        const first = await earlier(threadId, entry.runId, entry.step ?? 0)
        if (first) return { record: first, isNew: false, firstSeq: first.seq }
        if (entry.input === undefined) throw error
        return await store(threadId, { ...entry, input: undefined })
      }
    },

    /** An entry of this thread; null if the id is unknown. */
    find: log.find,
  }
}

type Erased = Pick<ThreadRecord, 'erased_ids'>

/** Messages of which none was deleted from the thread before. */
function withoutErased(messages: Message[], { erased_ids: ids = [] }: Erased): Message[] {
  if (ids.length === 0) return messages
  const erased = new Set(ids)
  const left = messages.filter(({ data }) => !erased.has(data.id))
  return left.length === messages.length ? messages : left
}

function inputWithoutErased(input: InputEntry, thread: Erased): InputEntry {
  if (thread.erased_ids === undefined) return input
  const messages = messagesFromJson(input.messages_json)
  const left = withoutErased(messages, thread)
  return left === messages ? input : { ...input, messages_json: messagesToJson(left) }
}

/**
 * The input of a step as an entry of its thread's log, without its number: that of the run, or the results of the calls
 * of the step before.
 */
export type InputEntry = Omit<CheckpointRecord, 'seq'> & { run_id: string; step: number }

export type PendingInput = ReturnType<typeof createPendingInput>

/**
 * The input of a step is stored in the record of its run, or of its calls, and written into the log together with the
 * step's answer. Until then, code that shows the thread adds the input of the step that the thread is working on: of its
 * oldest open run. Read it before the log: if the answer is stored in between, its input is then in the log.
 */
export function createPendingInput(collections: Pick<Collections, 'runs' | 'checkpoints' | 'toolCalls'>) {
  const toolCalls = toolCallStore(collections)

  async function find(filter: Pick<RunKey, 'thread_id'> | RunKey): Promise<InputEntry | undefined> {
    const run = await runStore(collections).findOldestOpen(filter)
    // Checked again, because a wrong record would show the owner of the thread another user's input.
    const isOwn = run !== null && ('_id' in filter ? run._id === filter._id : run.thread_id === filter.thread_id)
    return isOwn ? newestInputOf(run) : undefined
  }

  /** Of a run that has called tools, the results; undefined until all are there. */
  async function newestInputOf(run: OpenInput): Promise<InputEntry | undefined> {
    const step = await toolCalls.lastStepOf(run._id)
    if (step === undefined) return inputEntryOf(run)
    const calls = await toolCalls.listOfStep(run._id, step)
    const isAnswered = calls.every(({ status }) => status === 'done')
    return isAnswered ? resultsEntryOf(run, step, calls.map(toolMessageOf)) : undefined
  }

  return {
    /** It may be in the log already. */
    ofThread: (threadId: string) => find({ thread_id: threadId }),
    ofRun: (key: RunKey) => find(runKey(key)),

    /** The input that must be written before an entry that does not belong to the run, so that the log keeps the order. */
    async missingFromLog(threadId: string): Promise<InputEntry | undefined> {
      const input = await find({ thread_id: threadId })
      if (input === undefined) return undefined
      return (await logStore(collections).hasStep(threadId, input.run_id, input.step)) ? undefined : input
    },
  }
}

/** The entry has the id of its run, so that its id is known before it is stored. */
export function inputEntryOf(run: Pick<RunRecord, '_id' | 'thread_id' | 'input_json' | 'created_at'>): InputEntry {
  return {
    _id: run._id,
    thread_id: run.thread_id,
    messages_json: run.input_json,
    source: 'input',
    run_id: run._id,
    step: inputEntry,
    created_at: run.created_at,
  }
}

/** The results of the calls of a step. Its id follows from the step, so that it is known before it is stored, too. */
export function resultsEntryOf(
  { _id, thread_id }: Pick<RunRecord, '_id' | 'thread_id'>,
  step: number,
  results: Message[],
): InputEntry {
  return {
    _id: derivedId(['results', _id, String(step)], _id),
    thread_id,
    messages_json: messagesToJson(results),
    source: 'tools',
    run_id: _id,
    step: toolsEntry(step),
    created_at: new Date(),
  }
}
