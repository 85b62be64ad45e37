import type { Message } from '../../domain/messages.ts'

/** Tokens of a message besides its text (roles and separators), as OpenAI-compatible providers count them. */
const tokensPerMessage = 4
/** Characters that are counted at once, so that counting can stop early. */
const batchCharacters = 64 * 1024

/**
 * Counts the tokens of each text, one after the other, until the sum exceeds `limit`: the last count may cover only
 * a beginning, and later texts have none.
 */
export type CountTokens = (
  texts: string[],
  limit: number,
  turn: { userId: string; signal: AbortSignal },
) => Promise<number[]>

export interface Window {
  /** Token budget of the conversation and `fixed` together. */
  budgetTokens: number
  /** Texts that are always sent: instructions, tools. */
  fixed: string[]
  /** `CountTokens`, for the user of the run. */
  count(texts: string[], limit: number): Promise<number[]>
}

/**
 * Cuts a conversation to the model's window: keeps the newest messages within the budget, and every system message.
 * A message with tool calls and their results are kept or cut together. The newest message is always kept; if it is
 * too long, the model says so. Tokens are counted in one encoding for all models, so the caller leaves a margin.
 * Nothing is counted if the size in bytes is enough to decide, and nothing beyond the budget.
 */
export async function fitConversation(messages: Message[], window: Window): Promise<Message[]> {
  if (certainlyFits(messages, window)) return messages
  const system = messages.filter((message) => message.type === 'SystemMessage')
  const groups = groupsOf(messages.filter((message) => message.type !== 'SystemMessage')).toReversed()
  const [newest = []] = groups
  const kept = new Set<Message>([...system, ...newest])
  const parts = [...window.fixed, ...system.map((message) => [message]), ...groups]
  let room = window.budgetTokens
  let index = 0
  for await (const tokens of tokensOf(parts, window)) {
    const part = parts[index++]
    room -= tokens + (Array.isArray(part) ? part.length * tokensPerMessage : 0)
    if (room < 0) break
    if (Array.isArray(part)) for (const message of part) kept.add(message)
  }
  return messages.filter((message) => kept.has(message))
}

/** A token has at least one byte: text with fewer bytes than tokens left needs no counting. */
function certainlyFits(messages: Message[], { fixed, budgetTokens }: Window): boolean {
  let room = budgetTokens
  for (const text of fixed) room -= Buffer.byteLength(text)
  for (const message of messages) {
    if (room < 0) return false
    room -= Buffer.byteLength(textOf(message)) + tokensPerMessage
  }
  return room >= 0
}

type Part = string | Message[]

/** The tokens of each part, until the budget is exceeded. */
async function* tokensOf(parts: Part[], { budgetTokens, count }: Window): AsyncGenerator<number> {
  let left = budgetTokens
  for (const batch of batchesOf(parts)) {
    for (const tokens of await count(batch, left)) {
      yield tokens
      left -= tokens
    }
    if (left < 0) return
  }
}

function* batchesOf(parts: Part[]): Generator<string[]> {
  let batch: string[] = []
  let characters = 0
  for (const part of parts) {
    const text = typeof part === 'string' ? part : part.map(textOf).join('')
    batch.push(text)
    characters += text.length
    if (characters < batchCharacters) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}

/** Messages that must stay together: an answer with the results of its tool calls, or a single message. */
function groupsOf(messages: Message[]): Message[][] {
  const groups: Message[][] = []
  for (const message of messages) {
    const last = groups.at(-1)
    if (message.type === 'ToolMessage' && last) last.push(message)
    else groups.push([message])
  }
  return groups
}

function textOf(message: Message): string {
  const calls = message.type === 'AIMessage' ? (message.data.tool_calls ?? []) : []
  return calls.length === 0 ? message.data.content : `${message.data.content}${JSON.stringify(calls)}`
}
