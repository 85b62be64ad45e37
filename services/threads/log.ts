import { logStore } from '../stores/log.ts'
import { threadStore } from '../stores/threads.ts'
import type { ClientSession } from 'mongoose'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type Message, messagesFromJson, messagesToJson, systemMessageInJson } from '../../domain/messages.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import { messageTerms, wordsOf } from '../../domain/search/message-terms.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { InputEntry } from './pending-input.ts'
import { threadFull, threadMaxBytes } from './room.ts'

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
