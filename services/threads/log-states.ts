import { answerBytes } from '../../domain/answer-budget.ts'
import { createMessageWindow } from '../../domain/conversation.ts'
import { type Message, callsTools } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { logStore } from '../stores/log.ts'
import type { LogPosition, ScanLog } from './log-scan.ts'
import type { PendingInput } from './log.ts'

/** A thread's state after one entry of its log. */
export interface ThreadState {
  /** The newest of its messages that fit into one answer, oldest first. */
  messages: Message[]
  /** How many older ones were left out. */
  omitted: number
  checkpoint: LogPosition
  parentId: string | undefined
  /** Whether the entry ends with an answer that asks for tool calls. */
  callsTools: boolean
}

export interface HistoryPage {
  states: ThreadState[]
  /** Whether there are older ones. */
  hasMore: boolean
}

/** What of a state is wanted. */
export interface StatePart {
  /** The id of a message: only what precedes it. */
  before?: string | undefined
  /** All versions of the conversation, in the order in which they came, instead of the newest. */
  allVersions?: boolean | undefined
  /** Only entries whose number is smaller. */
  until?: number | undefined
}

type Thread = Pick<ThreadRecord, '_id' | 'user_id' | 'last_seq'>

export type ThreadStates = ReturnType<typeof createThreadStates>

interface ThreadStatesDeps {
  collections: Pick<Collections, 'checkpoints'>
  scan: ScanLog
  pendingInput: Pick<PendingInput, 'ofThread'>
}

/** Size of a state besides its messages. */
const stateBytes = 512

/** The current and past states of a thread, in answers of bounded size. */
export function createThreadStates({ collections, scan, pendingInput }: ThreadStatesDeps) {
  const partOf = (thread: Thread, until?: number) => ({
    filter: { thread_id: thread._id, ...(until === undefined ? {} : { seq: { $lt: until } }) },
    userId: thread.user_id,
  })

  /**
   * Chooses the states of a page: reads the sizes of all, and keeps one number for each. Returns the numbers of the
   * first and the last entry that are shown; undefined if there are none.
   */
  async function findPage(thread: Thread, until: number | undefined, limit: number) {
    const sizes: { seq: number; bytes: number }[] = []
    const known = new Map<string, number>()
    let total = 0
    await scan(partOf(thread, until), ({ seq }, messages) => {
      for (const { message, bytes } of messages) {
        total += bytes - (known.get(message.data.id) ?? 0)
        known.set(message.data.id, bytes)
      }
      sizes.push({ seq, bytes: Math.min(total, answerBytes) + stateBytes })
    })
    const last = sizes.at(-1)
    if (last === undefined) return undefined
    let first = sizes.length - 1
    for (let room = answerBytes - last.bytes; first > 0 && sizes.length - first < limit; first--) {
      room -= sizes[first - 1]?.bytes ?? 0
      if (room < 0) break
    }
    return { first: sizes[first]?.seq ?? last.seq, last: last.seq, hasMore: first > 0 }
  }

  /** The number of the entry with that id; null if it is unknown. */
  async function seqOf(thread: Thread, id: string): Promise<number | null> {
    const seq = await logStore(collections).seqOf(thread._id, id)
    if (seq !== undefined) return seq
    const input = await pendingInput.ofThread(thread._id)
    return input?._id === id ? (thread.last_seq ?? 0) + 1 : null
  }

  return {
    /** The current state, or null while the log is empty. */
    async state(thread: Thread, part: StatePart = {}): Promise<ThreadState | null> {
      const window = createMessageWindow(answerBytes, part)
      let newest: Omit<ThreadState, 'messages' | 'omitted'> | undefined
      await scan(partOf(thread, part.until), (checkpoint, added) => {
        for (const { message, bytes } of added) window.add(message, bytes)
        newest = { checkpoint, parentId: newest?.checkpoint._id, callsTools: callsTools(added.at(-1)?.message) }
      })
      return newest === undefined ? null : { ...newest, messages: window.messages(), omitted: window.omitted() }
    },

    /**
     * Past states, newest first, as many as fit into one answer, but at least one. `before` is the id of a
     * checkpoint; for an unknown one the result is empty.
     */
    async history(thread: Thread, { limit, before }: { limit: number; before?: string }): Promise<HistoryPage> {
      const nothing = { states: [], hasMore: false }
      const end = before === undefined ? undefined : await seqOf(thread, before)
      if (end === null) return nothing
      const page = await findPage(thread, end, limit)
      if (page === undefined) return nothing
      const window = createMessageWindow(answerBytes)
      const states: ThreadState[] = []
      let parentId: string | undefined
      await scan(partOf(thread, page.last + 1), (checkpoint, added) => {
        for (const { message, bytes } of added) window.add(message, bytes)
        if (checkpoint.seq >= page.first) {
          const shown = { messages: window.messages(), omitted: window.omitted() }
          states.push({ ...shown, checkpoint, parentId, callsTools: callsTools(added.at(-1)?.message) })
        }
        parentId = checkpoint._id
      })
      return { states: states.toReversed(), hasMore: page.hasMore }
    },
  }
}
