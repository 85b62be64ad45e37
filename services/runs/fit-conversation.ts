import { addAll } from '../../domain/add-all.ts'
import { resultsOfCalls } from '../../domain/conversation.ts'
import { cutText } from '../../domain/cut-text.ts'
import { type Message, callsTools } from '../../domain/messages.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { tokensOfAttachments } from '../attachments/prompt-parts.ts'

/**
 * Text has four to five bytes per token, code and tables have more. No text is expected to have more than this many for
 * each token of the window.
 */
export const bytesOfToken = 8
/** Tokens of a message besides its text (roles and separators), as OpenAI-compatible providers count them. */
const tokensPerMessage = 4
/** Characters that are counted at once, so that counting can stop early. */
const batchCharacters = 64 * 1024
/** Characters that stay of a result of an earlier step that does not fit whole. */
const shortResult = 400
/** Tokens of the note that a result was shortened, at most. */
const noteTokens = 40

/**
 * The system messages, and from the newest `count` of the others on. Results of tools, and the answers that called them,
 * do not count.
 */
export function newestMessages(messages: Message[], count: number | undefined): Message[] {
  if (count === undefined) return messages
  let left = count
  let first = messages.length
  while (first > 0 && left > 0) {
    first -= 1
    if (isCounted(messages[first])) left -= 1
  }
  const question = findQuestion(messages)
  return messages.filter((message, index) => index >= first || message.type === 'SystemMessage' || message === question)
}

function isCounted(message: Message | undefined): boolean {
  return message?.type === 'HumanMessage' || (message?.type === 'AIMessage' && !callsTools(message))
}

/** What is being answered: the newest message of a person. */
export function findQuestion(messages: readonly Message[]): Message | undefined {
  return messages.findLast((message) => message.type === 'HumanMessage' && !message.data.deleted)
}

interface Window {
  /** Token budget of the conversation and `fixed` together. */
  budgetTokens: number
  /** Nothing is cut: what does not fit is refused. */
  mustFit?: boolean
  /** Texts that are always sent: instructions, tools. */
  fixed: string[]
  /** `CountTokens`, for the user of the run. */
  count(texts: string[], limit: number): Promise<number[]>
}

interface Fitting {
  messages: Message[]
  /** False: what is never left out is longer than the budget. */
  fits: boolean
}

/**
 * Cuts a conversation to the model's window. Kept are, in this order and as far as the budget goes:
 * 1. always: system messages, and the question, which is the newest message of a person; also those that a person sent
 *    directly before it, unless they have more than half of what is left
 * 2. always: the newest step behind the question, which is an answer with the results of its calls; if it does not fit,
 *    its results are shortened
 * 3. the steps before it; if they do not all fit, the results of the oldest are shortened, so that the model still sees
 *    which calls it has made
 * 4. what was said before the question, the newest first
 *
 * Tokens are counted in one encoding for all models, so the caller leaves a margin. Nothing is counted if the size in
 * bytes is enough to decide, and nothing beyond the budget. Throws `ModelFailure` for a conversation that must fit and
 * does not.
 */
export async function fitConversation(messages: Message[], window: Window): Promise<Fitting> {
  if (certainlyFits(messages, window)) return { messages, fits: true }
  const { system, question, steps, earlier } = partsOf(messages)
  const always = [...window.fixed, ...system.map((message) => [message]), ...question.map((message) => [message])]
  if (window.mustFit) {
    const all = [...always, ...steps, ...earlier]
    if ((await costsWithin(all, window.budgetTokens, window)).length < all.length) throw tooLong()
    return { messages, fits: true }
  }
  let room = window.budgetTokens
  const take = (costs: number[]) => {
    for (const cost of costs) room -= cost
  }
  const costs = await costsWithin(always, room, window)
  let fits = costs.length === always.length
  if (fits) take(costs)
  else room = 0

  const chosen: Step[] = []
  const [newest, ...others] = steps
  if (newest !== undefined) {
    // Without steps, they are the newest of what was said before.
    const questions = await costsWithin(leadingQuestions(earlier), room / 2, window)
    take(questions)
    addAll(chosen, earlier.splice(0, questions.length))
    const [cost] = await costsWithin([newest], room, window)
    const { step, tokens } = cost === undefined ? await shorten(newest, room, window) : { step: newest, tokens: cost }
    fits &&= tokens <= room
    room = Math.max(0, room - tokens)
    chosen.push(step)
  }
  const whole = await costsWithin(others, room, window)
  if (whole.length === others.length) {
    take(whole)
    const before = await costsWithin(earlier, room, window)
    addAll(chosen, [...others, ...earlier.slice(0, before.length)])
  } else {
    const short = others.map((step) => withResults(step, (text) => cutResult(text, shortResult)))
    const shortCosts = await costsWithin(short, room, window)
    take(shortCosts)
    for (const [index, cost] of shortCosts.entries()) {
      const more = (whole[index] ?? Infinity) - cost
      if (more <= room) room -= more
      chosen.push((more <= room ? others[index] : short[index]) ?? [])
    }
  }
  return { messages: inOrderOf(messages, [...system, ...question, ...chosen.flat()]), fits }
}

/** An answer with the results of its calls, or a single message: they stay together. */
type Step = Message[]

/** The parts of a conversation, the newest first. */
function partsOf(messages: Message[]): { system: Message[]; question: Message[]; steps: Step[]; earlier: Step[] } {
  const question = findQuestion(messages)
  const position = question === undefined ? -1 : messages.indexOf(question)
  const results = resultsOfCalls(messages)
  const ofCalls = new Set<Message>([...results.values()].flat().filter((result) => result !== undefined))
  const steps: Step[] = []
  const earlier: Step[] = []
  for (const [index, message] of messages.entries()) {
    if (message.type === 'SystemMessage' || message === question || ofCalls.has(message)) continue
    const found = message.type === 'AIMessage' ? (results.get(message.data.id) ?? []) : []
    const step = [message, ...found.filter((result) => result !== undefined)]
    if (index > position) steps.unshift(step)
    else earlier.unshift(step)
  }
  return {
    system: messages.filter(({ type }) => type === 'SystemMessage'),
    question: question === undefined ? [] : [question],
    steps,
    earlier,
  }
}

/** Messages that a person sent one after the other before the question, the newest first. */
function leadingQuestions(earlier: Step[]): Step[] {
  const end = earlier.findIndex(([first]) => first?.type !== 'HumanMessage')
  return end < 0 ? earlier : earlier.slice(0, end)
}

/** The kept messages at the places of the whole ones. */
function inOrderOf(messages: Message[], retained: Message[]): Message[] {
  const byId = new Map(retained.map((message) => [message.data.id, message]))
  return messages.flatMap(({ data: { id } }) => byId.get(id) ?? [])
}

/** Shortens the results of a step, the longest most, so that all of it has about `room` tokens. */
async function shorten(step: Step, room: number, window: Window): Promise<{ step: Step; tokens: number }> {
  const bare = withResults(step, () => '')
  const [bareTokens = Infinity] = await costsWithin([bare], room, window)
  const results = step.filter(({ type }) => type === 'ToolMessage')
  const shown = new Map<string, string>()
  let left = room - bareTokens
  let tokens = bareTokens
  const byLength = results.map(({ data: { content } }) => content).toSorted((a, b) => a.length - b.length)
  for (const [index, content] of byLength.entries()) {
    if (shown.has(content)) continue
    const part = await beginningWithin(content, Math.floor(left / (byLength.length - index)), window)
    shown.set(content, part.text)
    const times = byLength.filter((other) => other === content).length
    left -= part.tokens * times
    tokens += part.tokens * times
  }
  return { step: withResults(step, (content) => shown.get(content) ?? ''), tokens }
}

/** As much of the beginning of a result as has so many tokens, with the note that it was cut. */
async function beginningWithin(
  text: string,
  tokens: number,
  { count }: Window,
): Promise<{ text: string; tokens: number }> {
  const limit = Math.max(0, Number.isFinite(tokens) ? tokens : 0)
  let length = Math.min(text.length, limit * bytesOfToken)
  while (length > 0) {
    const part = cutText(text, length)
    const isWhole = part.length === text.length
    const allowed = isWhole ? limit : limit - noteTokens
    const [counted = 0] = allowed <= 0 ? [Infinity] : await count([part], allowed)
    if (counted <= allowed)
      return { text: isWhole ? text : noted(text, part), tokens: counted + (isWhole ? 0 : noteTokens) }
    length = allowed <= 0 ? 0 : Math.min(length - 1, Math.floor(length * 0.7))
  }
  const isShort = text.length <= noted(text, '').length
  return isShort ? { text, tokens: Buffer.byteLength(text) } : { text: noted(text, ''), tokens: noteTokens }
}

function cutResult(text: string, length: number): string {
  return text.length <= length ? text : noted(text, cutText(text, length))
}

function noted(text: string, part: string): string {
  const note = `[Cut here: the conversation is long, so only the first ${part.length} of ${text.length} characters of this result are shown.]`
  return part === '' ? note : `${part}\n${note}`
}

function withResults(step: Step, shown: (content: string) => string): Step {
  return step.map((message) =>
    message.type === 'ToolMessage'
      ? { ...message, data: { ...message.data, content: shown(message.data.content) } }
      : message,
  )
}

/** The same that a model says. */
export function tooLong(): ModelFailure {
  return new ModelFailure('The conversation is too long for the model.', {
    statusCode: 400,
    type: 'context_length_exceeded',
    retryable: false,
  })
}

/** A token has at least one byte: text with fewer bytes than tokens left needs no counting. */
function certainlyFits(messages: Message[], { fixed, budgetTokens }: Window): boolean {
  let room = budgetTokens
  for (const text of fixed) room -= Buffer.byteLength(text)
  for (const message of messages) {
    if (room < 0) return false
    room -= Buffer.byteLength(textOf(message)) + fixedTokensOf([message])
  }
  return room >= 0
}

/** The tokens of messages besides their texts. */
/** Tokens of messages beside their text. */
export function fixedTokensOf(messages: Message[]): number {
  return messages.reduce((sum, message) => sum + tokensPerMessage + tokensOfAttachments(message), 0)
}

type Part = string | Message[]

/** The tokens of the first parts, as many as fit into `room` together. */
async function costsWithin(parts: Part[], room: number, { count }: Pick<Window, 'count'>): Promise<number[]> {
  const costs: number[] = []
  let left = room
  for (const batch of batchesOf(parts)) {
    for (const tokens of await count(batch, left)) {
      const part = parts[costs.length]
      const cost = tokens + (Array.isArray(part) ? fixedTokensOf(part) : 0)
      left -= cost
      if (left < 0) return costs
      costs.push(cost)
    }
  }
  return costs
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

/** What of a message is counted as text. */
export function textOf(message: Message): string {
  const calls = message.type === 'AIMessage' ? (message.data.tool_calls ?? []) : []
  return calls.length === 0 ? message.data.content : `${message.data.content}${JSON.stringify(calls)}`
}
