import { checkFreeForm } from '../../domain/free-form.ts'
import { checkMessageSize, maxMessageBytes } from '../../domain/message-size.ts'
import { type Message, type MessageInput, authoredBy, normaliseMessage } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { ThreadLog } from './log.ts'
import type { HistoryPage, StatePart, ThreadState, ThreadStates } from './log-states.ts'
import type { Caller } from '../owner.ts'
import type { PendingInput } from './pending-input.ts'
import type { ThreadReads } from './read-threads.ts'
import type { ThreadStatus } from './status.ts'

export interface CurrentState {
  thread: ThreadRecord
  state: ThreadState | null
  status: ThreadStatus
}

export interface History extends HistoryPage {
  thread: ThreadRecord
  status: ThreadStatus
  newest: number | undefined
}

interface ThreadStateDeps {
  reads: Pick<ThreadReads, 'see' | 'requireMade' | 'statusOf'>
  log: Pick<ThreadLog, 'append' | 'find'>
  states: ThreadStates
  pendingInput: Pick<PendingInput, 'missingFromLog'>
}

/** The messages of a thread: its state, its history, and entries that people add. */
export function createThreadState({ reads, log, states, pendingInput }: ThreadStateDeps) {
  return {
    /** The current state, null if the thread is empty. */
    async state(caller: Caller, threadId: string, part?: StatePart): Promise<CurrentState> {
      const thread = await reads.see(caller, threadId)
      const [state, status] = await Promise.all([states.state(thread, part), reads.statusOf(thread)])
      return { thread, state, status }
    },

    /** Adds an entry to the log of the caller's own thread, under a new id: it may replace what others have said. */
    async addState(caller: Caller, threadId: string, messages: MessageInput[], entryId?: string): Promise<void> {
      const { visibility } = await reads.requireMade(caller, threadId)
      const given = storable(messages)
      const added = visibility === undefined ? given : authoredBy(caller.userId, given)
      const input = await pendingInput.missingFromLog(threadId)
      await log.append(threadId, {
        ...(entryId === undefined ? {} : { id: entryId }),
        messages: added,
        source: 'update',
        input,
      })
    },

    /** Whether the log of the thread contains this entry. */
    hasEntry: async (threadId: string, entryId: string) => (await log.find(threadId, entryId)) !== null,

    /** Past states, newest first. `newest`: number of the newest entry of all, when it is on this page. */
    async history(caller: Caller, threadId: string, page: { limit: number; before?: string }): Promise<History> {
      const thread = await reads.see(caller, threadId)
      const [found, status] = await Promise.all([states.history(thread, page), reads.statusOf(thread)])
      const newest = page.before === undefined ? found.states[0]?.checkpoint.seq : undefined
      return { ...found, thread, status, newest }
    },
  }
}

/**
 * Checked against the limits of messages; tool arguments, which are free-form, also against those of free-form
 * members.
 */
function storable(inputs: MessageInput[]): Message[] {
  const messages = inputs.map(normaliseMessage)
  checkFreeForm(['body', 'values'], messages)
  for (const [index, message] of messages.entries())
    checkMessageSize(message, maxMessageBytes.user, ['body', 'values', index])
  return messages
}
