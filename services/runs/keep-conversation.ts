import type { AIMessage } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Conversation, Conversations } from '../threads/conversations.ts'
import type { Appended } from '../threads/log.ts'

/** What a step was given, and what it has stored. */
interface StepOnThread {
  /** The thread's record before the step, as this process knows it. */
  thread: ThreadRecord | undefined
  /** What the model was shown. */
  conversation: Conversation | undefined
  message: AIMessage
  /** The results of tools that the step stored before its answer; undefined in a first step. */
  toolResults: Appended | undefined
  answer: Appended
}

/**
 * Keeps a conversation with its answer for the next step or run, if what the step has stored follows in the log directly
 * behind what the model was shown. Returns the thread's record as it is then, otherwise undefined: somebody else has
 * added something in between, or an earlier attempt has stored a part.
 */
export function keepConversation(
  conversations: Pick<Conversations, 'remember'>,
  { thread, conversation, message, toolResults, answer }: StepOnThread,
): ThreadRecord | undefined {
  if (thread === undefined || conversation === undefined) return undefined
  const stored = toolResults === undefined ? [answer] : [toolResults, answer]
  let lastSeq = conversation.lastSeq
  for (const { isNew, firstSeq, record } of stored) {
    if (!isNew || firstSeq !== lastSeq + 1) return undefined
    lastSeq = record.seq
  }
  const newestId = answer.record._id
  conversations.remember(thread._id, {
    conversation: { ...conversation, messages: [...conversation.messages, message], lastSeq },
    newestId,
  })
  return { ...thread, last_seq: lastSeq, last_entry_id: newestId }
}
