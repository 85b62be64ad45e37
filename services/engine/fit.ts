import type { Message } from '../../domain/messages.ts'

/** What a message costs beside its text (roles and separators), as providers of this interface count. */
const tokensPerMessage = 4
/** Characters that are counted at once: what is not needed any more is not looked at. */
const batchCharacters = 64 * 1024

/**
 * The tokens of each text, counted one after the other until their sum passes `limit`: the count at
 * which it does may be that of a beginning, and the texts behind it have none.
 */
export type CountTokens = (
  texts: string[],
  limit: number,
  turn: { userId: string; signal: AbortSignal },
) => Promise<number[]>

export interface Window {
  /** Tokens that there are for the conversation and `fixed` together. */
  budgetTokens: number
  /** Texts that go along whatever they cost: instructions, tools. */
  fixed: string[]
  /** `CountTokens`, for the user of the run. */
  count(texts: string[], limit: number): Promise<number[]>
}

/**
 * Cuts a conversation to what a model can take in: the newest messages that have room in the budget,
 * and every system message. A message that asks for tools and their answers stay or go together, and
 * the newest message stays whatever it costs: that it is too long is the model's to say. Tokens are
 * counted in one encoding for all models, so the caller leaves a margin. Nothing is counted where
 * bytes tell enough, and nothing beyond the budget.
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

/** A token is at least one byte: what has fewer bytes than there is room needs no counting. */
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

/** The tokens of each part, until they are more than the budget. */
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

function textOf(message: Message): string {
  const calls = message.type === 'AIMessage' ? (message.data.tool_calls ?? []) : []
  return calls.length === 0 ? message.data.content : `${message.data.content}${JSON.stringify(calls)}`
}
