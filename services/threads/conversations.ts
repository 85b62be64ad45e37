import { LRUCache } from 'lru-cache'
import { foldMessages } from '../../domain/conversation.ts'
import {
  type AIMessage,
  type Message,
  messagesToJson,
  personsMessageInJson,
  storedMessagesFromJson,
  systemMessageInJson,
} from '../../domain/messages.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { logStore } from '../stores/log.ts'
import { threadStore } from '../stores/threads.ts'
import type { Appended } from './log.ts'

/** Bytes of a thread, from its end, in which calls are looked for. */
export const searchedBytes = 2 * 1024 * 1024

/** The end of a thread's conversation, oldest message first. */
export interface Conversation {
  messages: Message[]
  /** Number of the newest entry of the log that is in it; 0 for an empty log. */
  lastSeq: number
  /** About how many bytes of the log were read for it, from the log's end; `Infinity` if all were read. */
  reach: number
}

/** What a step was given, and what it has stored. */
interface StepOnThread {
  /** The thread's record before the step, as this process knows it. */
  thread: ThreadRecord | undefined
  /** What the model was shown. */
  conversation: Conversation | undefined
  message: AIMessage
  /** Stored together with the input, or with the results of tools, that it answers. */
  answer: Pick<Appended, 'isNew' | 'firstSeq'> & { record: Pick<CheckpointRecord, '_id' | 'seq'> }
}

interface ReadOptions {
  thread?: Known | undefined
  runId?: string | undefined
  last?: string | undefined
  /** The newest message of a person is read, too, however far from the end it is. */
  needsQuestion?: boolean | undefined
}

export type Conversations = ReturnType<typeof createConversations>

/** What tells whether something was added to a thread since its conversation was kept. */
type Known = Pick<ThreadRecord, '_id' | 'last_seq' | 'last_entry_id'>

interface ConversationsDeps {
  collections: Pick<Collections, 'checkpoints' | 'threads'>
}

const entriesAtOnce = 64
/**
 * Limits of the conversations that are kept in memory. A conversation that grows beyond its limit is not kept: the next
 * turn reads its end from the log, and that is kept.
 */
const cachedBytes = { all: 32 * 1024 * 1024, one: 4 * 1024 * 1024 }
const cachedMs = 5 * 60_000

/**
 * What a model is shown of a thread. It is read from the end of the log until there are enough bytes, so that a turn
 * costs the same however long the thread is. If a message was replaced and its first version is not among what was
 * read, it is shown at the place where it was replaced.
 */
export function createConversations(deps: ConversationsDeps, { clock = () => performance.now() } = {}) {
  const cached = new LRUCache<string, Conversation & { newestId: string }>({
    maxSize: cachedBytes.all,
    maxEntrySize: cachedBytes.one,
    sizeCalculation: ({ messages }) => bytesOf(messages),
    ttl: cachedMs,
    // So that nothing of a deleted thread stays in memory for longer than `cachedMs`.
    ttlAutopurge: true,
    ttlResolution: 0,
    perf: { now: clock },
  })

  /**
   * The conversation that is kept of a thread; undefined if something was added to the thread since. The number of the
   * newest entry is compared too.
   */
  function cachedOf(thread: Known, maxBytes: number): Conversation | undefined {
    if (thread.last_seq === undefined) return { messages: [], lastSeq: 0, reach: Infinity }
    const found = cached.get(thread._id)
    const isWhole = found?.newestId === thread.last_entry_id && found?.lastSeq === thread.last_seq
    return found !== undefined && isWhole && found.reach >= maxBytes ? found : undefined
  }

  return {
    /**
     * About the last `maxBytes` of the conversation. `thread` is the thread's record if it was read a moment ago. With
     * `runId`, it is the record as an earlier step of this run knew it: entries that others have added since are read.
     * With `last`, the id of a message, it is the version of the conversation that ends with that message.
     */
    async read(
      threadId: string,
      maxBytes: number,
      { thread, runId, last, needsQuestion }: ReadOptions = {},
    ): Promise<Conversation> {
      const readAnew = () => readEnd(deps, threadId, maxBytes, { last, needsQuestion })
      if (last !== undefined) return readAnew()
      const found = thread && cachedOf(thread, maxBytes)
      if (found === undefined) return readAnew()
      if (runId === undefined || thread?.last_seq === undefined) return found
      return (await withEntriesOfOthers(deps, threadId, found, runId)) ?? readAnew()
    },

    /**
     * Keeps a conversation with its answer for the next step or run, if what the step has stored follows in the log
     * directly behind what the model was shown. Then returns the thread's record as it is now. Returns undefined if
     * somebody else has added something in between, or an earlier attempt has stored a part.
     */
    keep({ thread, conversation, message, answer }: StepOnThread): ThreadRecord | undefined {
      if (thread === undefined || conversation === undefined) return undefined
      const { messages, reach } = conversation
      if (!answer.isNew || answer.firstSeq !== conversation.lastSeq + 1) return undefined
      const { _id: newestId, seq: lastSeq } = answer.record
      cached.set(thread._id, { messages: [...messages, message], lastSeq, reach, newestId })
      return { ...thread, last_seq: lastSeq, last_entry_id: newestId }
    },

    /** The threads are being deleted: nothing of them stays in memory. */
    forget(threadIds: Iterable<string>): void {
      for (const id of threadIds) cached.delete(id)
    },
  }
}

/**
 * Reads the log from its end until there are enough bytes of the conversation. With `needsQuestion`, until the message of
 * a person is among them: the model must be shown what it is asked, however long the results of tools behind it are. With
 * `last`, the id of a message, what is behind that message does not count. Where the conversation goes on from a message
 * that is further back than what was read, what stands in between does not count either.
 */
async function readEnd(
  deps: ConversationsDeps,
  threadId: string,
  maxBytes: number,
  { last, needsQuestion = false }: Pick<ReadOptions, 'last' | 'needsQuestion'> = {},
): Promise<Conversation> {
  const newestFirst: { seq: number; messages: Message[] }[] = []
  let newestSeq: number | undefined
  let before: number | undefined
  let bytes = 0
  /** The message from which on messages count, and others of which changes are read on the way to it. */
  let [wanted, changed]: [string | undefined, string[]] = [last, []]
  let hasQuestion = !needsQuestion
  let isWhole = false
  const isEnough = () => bytes >= maxBytes && hasQuestion
  const read = () => newestFirst.toReversed().flatMap((entry) => entry.messages)

  async function readOn(): Promise<void> {
    while (!isEnough()) {
      const batch = await logStore(deps.collections).listBefore(threadId, before, entriesAtOnce)
      for (const { seq, source, messages_json: json } of batch) {
        newestSeq ??= seq
        before = seq
        if (!isRead(source, json)) continue
        const messages = storedMessagesFromJson(json)
        newestFirst.push({ seq, messages })
        if (messages.some(({ data: { id } }) => id === wanted)) wanted = undefined
        if (wanted !== undefined) continue
        bytes += Buffer.byteLength(json)
        hasQuestion ||= messages.some(({ type }) => type === 'HumanMessage')
        if (isEnough()) return
      }
      isWhole = batch.length < entriesAtOnce
      if (isWhole) return
    }
  }

  function isRead(source: CheckpointRecord['source'], json: string): boolean {
    const hasSystem = systemMessageInJson.test(json)
    if (wanted === undefined) return bytes < maxBytes || hasSystem || json.includes(personsMessageInJson)
    // A change of an older message may stand behind the one that is wanted.
    return hasSystem || source === 'update' || [wanted, ...changed].some((id) => json.includes(JSON.stringify(id)))
  }

  await readOn()
  for (;;) {
    const messages = read()
    const line = foldMessages([], messages, last)
    const first = line.find(({ type }) => type !== 'SystemMessage')
    const from = first === undefined ? undefined : earlierVersion(messages, [first])
    if (isWhole || first === undefined || from === undefined) break
    bytes = Buffer.byteLength(messagesToJson(line))
    if (isEnough()) break
    ;[wanted, changed] = [from, [...changed, first.data.id]]
    await readOn()
  }
  const oldest = newestFirst.at(-1)?.seq ?? 1
  const older = oldest > 1 ? await systemMessagesBefore(deps.collections, threadId, oldest) : []
  return {
    messages: foldMessages([], [...older, ...read()], last),
    lastSeq: newestSeq ?? 0,
    reach: bytes >= maxBytes ? maxBytes : Infinity,
  }
}

/**
 * The conversation with the entries that other runs and people have added since; undefined if there are many, or if they
 * continue an earlier version.
 */
async function withEntriesOfOthers(
  { collections }: ConversationsDeps,
  threadId: string,
  { messages, lastSeq, reach }: Conversation,
  runId: string,
): Promise<Conversation | undefined> {
  const added = await logStore(collections).listSince(threadId, lastSeq, entriesAtOnce, runId)
  if (added.length === entriesAtOnce) return undefined
  const news = added.flatMap((entry) => storedMessagesFromJson(entry.messages_json))
  if (earlierVersion(messages, news) !== undefined) return undefined
  return { messages: foldMessages(messages, news), lastSeq: added.at(-1)?.seq ?? lastSeq, reach }
}

/** The message after which messages go on, if it is not in the conversation itself but in an earlier version of it. */
export function earlierVersion(conversation: readonly Message[], added: readonly Message[]): string | undefined {
  for (const { type, data } of added) {
    if (type !== 'HumanMessage' || typeof data.after !== 'string') continue
    const { after } = data
    if (![...conversation, ...added].some((message) => message.data.id === after)) return after
  }
  return undefined
}

/** A conversation keeps its system messages, however old they are. Most threads have none, and their records say so. */
async function systemMessagesBefore(
  collections: ConversationsDeps['collections'],
  threadId: string,
  seq: number,
): Promise<Message[]> {
  if (!(await threadStore(collections).mayHaveSystem(threadId))) return []
  const entries = await logStore(collections).listWithSystemBefore(threadId, seq)
  return entries
    .flatMap((entry) => storedMessagesFromJson(entry.messages_json))
    .filter((message) => message.type === 'SystemMessage')
}

/** Sizes of messages: a kept message is part of each later turn, and is measured only once. */
const measured = new WeakMap<Message, number>()

/** About as many bytes as the messages take in memory. */
function bytesOf(messages: Message[]): number {
  let bytes = 1
  for (const message of messages) {
    const size = measured.get(message) ?? sizeOf(message)
    measured.set(message, size)
    bytes += size
  }
  return bytes
}

function sizeOf({ data, type }: Message): number {
  const calls = type === 'AIMessage' && data.tool_calls ? JSON.stringify(data.tool_calls).length : 0
  const parts = type === 'HumanMessage' && data.parts ? JSON.stringify(data.parts).length : 0
  return 200 + data.content.length + calls + parts
}
