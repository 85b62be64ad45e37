import { countTokens } from '../../domain/chunking/count-tokens.ts'
import type { Message } from '../../domain/messages.ts'

/** What a message costs beside its text (roles and separators), as providers of this interface count. */
const tokensPerMessage = 4

/**
 * Cuts a conversation to what a model can take in: the newest messages that have room in
 * `budgetTokens`, and every system message. A message that asks for tools and their answers stay or
 * go together, and the newest message stays whatever it costs: that it is too long is the model's to
 * say. Tokens are counted in one encoding for all models, so the caller leaves a margin.
 */
export function fitConversation(messages: Message[], budgetTokens: number): Message[] {
  // A token is at least one byte: what has fewer bytes than there is room needs no counting.
  if (
    messages.reduce((bytes, message) => bytes + Buffer.byteLength(textOf(message)) + tokensPerMessage, 0) <=
    budgetTokens
  )
    return messages
  const system = messages.filter((message) => message.type === 'SystemMessage')
  let room = budgetTokens - tokensOf(system)
  const kept = new Set<Message>(system)
  const groups = groupsOf(messages.filter((message) => message.type !== 'SystemMessage'))
  for (const [index, group] of groups.toReversed().entries()) {
    room -= tokensOf(group)
    if (room < 0 && index > 0) break
    for (const message of group) kept.add(message)
  }
  return messages.filter((message) => kept.has(message))
}

/** What has to stay together: an answer with the results of the tools that it asks for, or one message alone. */
function groupsOf(messages: Message[]): Message[][] {
  const groups: Message[][] = []
  for (const message of messages) {
    const last = groups.at(-1)
    if (message.type === 'ToolMessage' && last) last.push(message)
    else groups.push([message])
  }
  return groups
}

function tokensOf(messages: Message[]): number {
  return messages.reduce((sum, message) => sum + countTokens(textOf(message)) + tokensPerMessage, 0)
}

function textOf(message: Message): string {
  const calls = message.type === 'AIMessage' ? (message.data.tool_calls ?? []) : []
  return calls.length === 0 ? message.data.content : `${message.data.content}${JSON.stringify(calls)}`
}
