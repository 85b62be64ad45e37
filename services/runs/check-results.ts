import { invalidInput } from '../../domain/errors.ts'
import type { Message } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Conversations } from '../threads/conversations.ts'

/** Bytes of a thread, from its end, in which calls are looked for. */
export const searchedBytes = 2 * 1024 * 1024

/**
 * The input of a run without results that were said before: some clients send all of them again with each turn. The other
 * results of tools belong to calls of its thread, or of the input, that have no result yet. Throws `invalid_input`
 * otherwise: the model would not be shown them.
 */
export async function checkResults(
  conversations: Pick<Conversations, 'read'>,
  {
    thread,
    input,
    isNewThread,
    loc = ['body', 'input'],
  }: { thread: ThreadRecord; input: Message[]; isNewThread: boolean; loc?: string[] | undefined },
): Promise<Message[]> {
  if (input.every(({ type }) => type !== 'ToolMessage')) return input
  const before = isNewThread ? [] : (await conversations.read(thread._id, searchedBytes, { thread })).messages
  const open = new Map<string, number>()
  const said = new Set<string>()
  const note = (message: Message) => {
    if (message.type === 'AIMessage')
      for (const { id } of message.data.tool_calls ?? []) open.set(id, (open.get(id) ?? 0) + 1)
    if (message.type !== 'ToolMessage') return true
    const calls = open.get(message.data.tool_call_id) ?? 0
    open.set(message.data.tool_call_id, Math.max(0, calls - 1))
    said.add(textOf(message))
    return calls > 0
  }
  for (const message of before) note(message)
  const refusal = (index: number) =>
    invalidInput([...loc, index, 'tool_call_id'], 'no call without a result has this id')
  const left = input.filter((message, index) => {
    const wasSaid = message.type === 'ToolMessage' && said.has(textOf(message))
    if (note(message)) return true
    if (!wasSaid) throw refusal(index)
    return false
  })
  if (left.length === 0) throw refusal(0)
  return left
}

function textOf({ data }: Extract<Message, { type: 'ToolMessage' }>): string {
  return JSON.stringify([data.tool_call_id, data.content])
}
