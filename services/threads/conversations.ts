import { LRUCache } from 'lru-cache'
import {
  type Message,
  asksForTools,
  foldMessages,
  messagesFromJson,
  systemMessageInJson,
} from '../../domain/messages.ts'
import type { CheckpointRecord, ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'

/** The end of a thread's conversation, oldest message first. */
export interface Conversation {
  messages: Message[]
  /** Number of the newest entry of the log that is in it; 0 for an empty log. */
  lastSeq: number
}

export type Conversations = ReturnType<typeof createConversations>

/** The cache key of a conversation: a thread can be deleted and created again with the same id. */
type Known = Pick<ThreadRecord, '_id' | 'created_at' | 'last_seq'>

const entriesAtOnce = 64
/**
 * What is kept in memory: conversations that were used a moment ago. One that grows beyond the limit for one is read
 * again, from its end, and kept again.
 */
const keptBytes = { all: 32 * 1024 * 1024, one: 4 * 1024 * 1024 }
const keptMs = 5 * 60_000

/**
 * What a model is shown of a thread. It is read from the end of the log until enough bytes are there,
 * so that a turn costs the same however long the thread is. Messages that others have replaced far
 * behind that end are shown where they were replaced.
 */
export function createConversations(
  { checkpoints, threads }: Pick<Collections, 'checkpoints' | 'threads'>,
  { clock = () => performance.now() } = {},
) {
  const kept = new LRUCache<string, Conversation & { createdAt: number }>({
    maxSize: keptBytes.all,
    maxEntrySize: keptBytes.one,
    sizeCalculation: ({ messages }) => bytesOf(messages),
    ttl: keptMs,
    // Of a thread that was deleted nothing stays in memory for longer.
    ttlAutopurge: true,
    ttlResolution: 0,
    perf: { now: clock },
  })

  /** What is kept of a thread, unless something was added to it since. */
  function keptOf(thread: Known): Conversation | undefined {
    if (thread.last_seq === undefined) return { messages: [], lastSeq: 0 }
    const found = kept.get(thread._id)
    return found?.lastSeq === thread.last_seq && found.createdAt === thread.created_at.getTime() ? found : undefined
  }

  async function readEnd(threadId: string, maxBytes: number): Promise<Conversation> {
    const newestFirst: CheckpointRecord[] = []
    let bytes = 0
    for (;;) {
      const before = newestFirst.at(-1)?.seq
      const batch = await checkpoints
        .find({ thread_id: threadId, ...(before === undefined ? {} : { seq: { $lt: before } }) })
        .sort({ seq: -1 })
        .limit(entriesAtOnce)
        .lean<CheckpointRecord[]>()
      for (const entry of batch) {
        newestFirst.push(entry)
        bytes += Buffer.byteLength(entry.messages_json)
        if (bytes >= maxBytes) break
      }
      if (bytes >= maxBytes || batch.length < entriesAtOnce) break
    }
    const oldest = newestFirst.at(-1)?.seq ?? 1
    const older = oldest > 1 ? await systemMessagesBefore(threadId, oldest) : []
    const messages = newestFirst.toReversed().flatMap((entry) => messagesFromJson(entry.messages_json))
    return { messages: foldMessages([], [...older, ...messages]), lastSeq: newestFirst[0]?.seq ?? 0 }
  }

  /** Undefined if there are many. */
  async function withEntriesOfOthers(
    threadId: string,
    { messages, lastSeq }: Conversation,
    runId: string,
  ): Promise<Conversation | undefined> {
    const added = await checkpoints
      .find({ thread_id: threadId, seq: { $gt: lastSeq }, run_id: { $ne: runId } })
      .sort({ seq: 1 })
      .limit(entriesAtOnce)
      .lean<CheckpointRecord[]>()
    if (added.length === entriesAtOnce) return undefined
    const news = added.flatMap((entry) => messagesFromJson(entry.messages_json))
    return { messages: foldMessages(messages, news), lastSeq: added.at(-1)?.seq ?? lastSeq }
  }

  /** A conversation keeps its system messages, however old they are. Most threads have none, and say so. */
  async function systemMessagesBefore(threadId: string, seq: number): Promise<Message[]> {
    const thread = await threads.findOne({ _id: threadId }, { has_system: 1 }).lean<Pick<ThreadRecord, 'has_system'>>()
    if (thread?.has_system === false) return []
    const entries = await checkpoints
      .find({ thread_id: threadId, seq: { $lt: seq }, messages_json: systemMessageInJson })
      .sort({ seq: 1 })
      .lean<CheckpointRecord[]>()
    return entries
      .flatMap((entry) => messagesFromJson(entry.messages_json))
      .filter((message) => message.type === 'SystemMessage')
  }

  return {
    /**
     * About the last `maxBytes` of the conversation. `thread` is its record, when it was read a moment ago. With
     * `runId`, it is what an earlier step of this run knows, and entries that others have added since are read.
     */
    async read(
      threadId: string,
      maxBytes: number,
      { thread, runId }: { thread?: Known | undefined; runId?: string | undefined } = {},
    ): Promise<Conversation> {
      const found = thread && keptOf(thread)
      if (found === undefined) return readEnd(threadId, maxBytes)
      if (runId === undefined || thread?.last_seq === undefined) return found
      return (await withEntriesOfOthers(threadId, found, runId)) ?? readEnd(threadId, maxBytes)
    },

    /**
     * Whether the thread is empty, or this process has stored its newest entry a moment ago and no run waits for the
     * results of its tools.
     */
    isAtHand(thread: Known): boolean {
      const found = keptOf(thread)
      return found !== undefined && !asksForTools(found.messages.at(-1))
    },

    /** Keeps a conversation that was read here, with what was stored right behind it. */
    remember(thread: Known, { messages, lastSeq }: Conversation): void {
      kept.set(thread._id, { messages, lastSeq, createdAt: thread.created_at.getTime() })
    },
  }
}

/** A kept message is part of each later turn, so that it is measured once. */
const measured = new WeakMap<Message, number>()

/** About as many as in memory. */
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
  return 200 + data.content.length + calls
}
