import { invalidInput } from '../../domain/errors.ts'
import type { Message } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Conversations } from '../threads/conversations.ts'

/** Bytes of a thread, from its end, in which calls are looked for. */
const searchedBytes = 2 * 1024 * 1024

/**
 * Results of tools in the input of a run belong to calls of its thread, or of the input, that have no result yet. Throws
 * `invalid_input` otherwise: the model would not be shown them.
 */
export async function checkResults(
  conversations: Pick<Conversations, 'read'>,
  {
    thread,
    input,
    isNewThread,
    loc = ['body', 'input'],
  }: { thread: ThreadRecord; input: Message[]; isNewThread: boolean; loc?: string[] | undefined },
): Promise<void> {
  if (input.every(({ type }) => type !== 'ToolMessage')) return
  const before = isNewThread ? [] : (await conversations.read(thread._id, searchedBytes, { thread })).messages
  const open = new Map<string, number>()
  const note = (message: Message) => {
    if (message.type === 'AIMessage')
      for (const { id } of message.data.tool_calls ?? []) open.set(id, (open.get(id) ?? 0) + 1)
    if (message.type !== 'ToolMessage') return true
    const calls = open.get(message.data.tool_call_id) ?? 0
    open.set(message.data.tool_call_id, Math.max(0, calls - 1))
    return calls > 0
  }
  for (const message of before) note(message)
  for (const [index, message] of input.entries())
    if (!note(message)) throw invalidInput([...loc, index, 'tool_call_id'], 'no call without a result has this id')
}
