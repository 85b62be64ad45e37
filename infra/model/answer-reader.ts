import { addAll } from '../../domain/add-all.ts'
import { isJsonObject } from '../../domain/json.ts'
import type { CutReason, TokenLogprob } from '../../domain/messages.ts'
import type { AnswerDelta } from '../../services/runs/chat-model.ts'
import {
  createByteCount,
  createCollectedMembers,
  createSources,
  maxIdLength,
  maxNameLength,
  readUsage,
} from './answer-members.ts'
import { createCallReader } from './call-reader.ts'
import { failureInAnswer, saidFailure } from './failures.ts'
import { type JsonObject, arrayAt, invalid, isArray, objectAt, stringAt } from './foreign-values.ts'
import { createTextReader } from './text-reader.ts'

/** The server's own number of a call in the old form, which has one call an answer. */
const oldCallIndex = 0

interface AnswerReaderOptions {
  /** The template of the model opens the tag of its thinking, so that the text begins as thinking. */
  thinkingIsOpen?: boolean
  /** Sources that the server names beside the text are added to it. */
  addSources?: boolean
  /** The names under which tools were offered. */
  toolNames?: ReadonlySet<string>
  /** Is removed from what the server says of a failure. */
  apiKey?: string
}

/**
 * Reads the chunks of a streamed answer, in all the forms that servers give them. The server is not trusted: each
 * chunk is checked before it is used, and the size of the answer is limited. Throws `ModelFailure`, which names the member.
 */
export function createAnswerReader({
  thinkingIsOpen = false,
  addSources = false,
  toolNames = new Set(),
  apiKey = '',
}: AnswerReaderOptions = {}) {
  const collected = createCollectedMembers()
  const count = createByteCount()
  const sources = createSources()
  const calling = createCallReader({ count, collected, toolNames })
  const texts = createTextReader({ thinkingIsOpen, count })
  let finished = false
  let isCut = false
  let hasChoice = false
  let isCounted = false
  /** The server's number of the answer that is read. */
  let mine: unknown
  const came = new Set<AnswerDelta['type']>()

  function choiceDeltas(choice: JsonObject): AnswerDelta[] {
    const delta = objectAt(choice['delta'], 'choices[0].delta')
    const deltas = delta === undefined ? [] : messageDeltas(delta, 'choices[0].delta')
    // A whole answer, and the last chunk of some servers, have `message`.
    const message = objectAt(choice['message'], 'choices[0].message')
    if (message !== undefined) addAll(deltas, messageDeltas(notYetIn(message), 'choices[0].message'))
    if (typeof choice['text'] === 'string' && delta === undefined && message === undefined)
      addAll(deltas, messageDeltas({ content: choice['text'] }, 'choices[0]'))
    sources.addFrom(choice)
    return deltas
  }

  /** Of a message that repeats the answer, what did not come before. */
  function notYetIn(message: JsonObject): JsonObject {
    const {
      tool_calls: calls,
      function_call: call,
      content,
      refusal,
      annotations,
      context,
      citations,
      ...others
    } = message
    const shown = { annotations, context, citations }
    if (came.size === 0) return { ...others, ...shown, content, refusal, tool_calls: calls, function_call: call }
    return {
      ...shown,
      ...(came.has('text') ? {} : { content }),
      ...(came.has('refusal') ? {} : { refusal }),
      ...(came.has('call') ? {} : { tool_calls: calls, function_call: call }),
    }
  }

  function messageDeltas(delta: JsonObject, at: string): AnswerDelta[] {
    const deltas: AnswerDelta[] = []
    const thought = thoughtOf(delta)
    if (thought !== '') addAll(deltas, texts.reasoning(thought))
    addAll(deltas, texts.content(delta['content'], `${at}.content`))
    const refused = delta['refusal'] === false ? undefined : stringAt(delta['refusal'], `${at}.refusal`)
    if (refused) {
      count(refused)
      deltas.push({ type: 'refusal', text: refused })
    }
    const called = delta['tool_calls']
    const calls = isJsonObject(called) ? [called] : (arrayAt(called, `${at}.tool_calls`) ?? [])
    for (const [place, call] of calls.entries())
      addAll(deltas, calling.read(call, `${at}.tool_calls[${place}]`, place === 0))
    const old = objectAt(delta['function_call'], `${at}.function_call`)
    if (old !== undefined && calls.length === 0)
      addAll(deltas, calling.read({ index: oldCallIndex, function: old }, `${at}.function_call`, true))
    if (isArray(delta['annotations'])) sources.addAnnotations(delta['annotations'])
    sources.addFrom(delta)
    collected.addMessage(delta)
    for (const { type } of deltas) came.add(type === 'restart' ? 'text' : type)
    return deltas
  }

  /** The choice that is read: servers that were asked for one answer may send several. */
  function choiceIn(choices: unknown[]): JsonObject | undefined {
    for (const one of choices) {
      const choice = objectAt(one, 'choices[0]')
      if (choice === undefined) continue
      const index = choice['index'] ?? undefined
      if (index !== undefined && mine !== undefined && index !== mine) continue
      mine ??= index
      hasChoice = true
      return choice
    }
    return undefined
  }

  function logprobsOf(choice: JsonObject): AnswerDelta[] {
    const given = choice['logprobs']
    const logprobs = isArray(given) ? undefined : objectAt(given, 'choices[0].logprobs')
    const tokens = (arrayAt(logprobs?.['content'], 'choices[0].logprobs.content') ?? []).map((token) => {
      count(JSON.stringify(token) ?? '')
      return tokenAt(token, 'choices[0].logprobs.content')
    })
    return tokens.length > 0 ? [{ type: 'logprobs', tokens }] : []
  }

  function read(value: unknown): AnswerDelta[] {
    if (isArray(value)) return value.flatMap((one) => read(one))
    const chunk = objectAt(value, 'a chunk')
    if (chunk === undefined) throw invalid('a chunk must be an object')
    const deltas: AnswerDelta[] = []
    const choices = arrayAt(chunk['choices'], 'choices')
    const failed = choices === undefined ? saidFailure(chunk) : undefined
    if (failed !== undefined) throw failureInAnswer(failed, apiKey)
    const choice = choiceIn(choices ?? [])
    if (choice !== undefined) {
      if (choice['error']) throw failureInAnswer(choice['error'], apiKey)
      addAll(deltas, [...choiceDeltas(choice), ...logprobsOf(choice)])
      const reason = stringAt(choice['finish_reason'], 'choices[0].finish_reason', maxNameLength)
      if (reason === 'error') throw failureInAnswer('The answer ended with an error.', apiKey)
      finished ||= reason !== undefined && reason !== ''
      const cut = cutOf(reason)
      isCut ||= cut !== undefined
      if (cut !== undefined) deltas.push({ type: 'cut', reason: cut })
    }
    sources.addFrom(chunk)
    const usage = readUsage(chunk['usage'] ?? choice?.['usage'] ?? usageOfGroq(chunk))
    // The last of all chunks may have none.
    if (usage !== undefined && (usage.total_tokens > 0 || !isCounted)) {
      isCounted = true
      deltas.push({ type: 'usage', usage })
    }
    return deltas
  }

  return {
    read,
    /** What is left when the stream has ended. `sawEnd`: with the event that ends it. */
    end({ sawEnd = false } = {}): AnswerDelta[] {
      if (!hasChoice && sawEnd) throw invalid('choices is missing')
      const deltas = calling.end()
      addAll(deltas, texts.end({ isCut, hasCalls: came.has('call') || deltas.length > 0 }))
      const list = addSources ? sources.list() : ''
      if (list !== '') deltas.push({ type: 'text', text: list })
      return deltas
    },
    /** Whether the model said that its answer is complete. */
    get finished() {
      return finished
    },
    /** Members that the server must get back with this message. */
    get members() {
      return collected.members()
    },
  }
}

function cutOf(reason: string | undefined): CutReason | undefined {
  switch (reason?.toLowerCase()) {
    case 'length':
    case 'max_tokens':
    case 'max_output_tokens':
    case 'model_length':
    case 'model_context_window_exceeded':
      return 'length'
    case 'content_filter':
    case 'safety':
    case 'sensitive':
      return 'content_filter'
    default:
      return undefined
  }
}

function usageOfGroq(chunk: JsonObject): unknown {
  const more = chunk['x_groq']
  return isJsonObject(more) ? more['usage'] : undefined
}

const maxAlternatives = 20

function tokenAt(value: unknown, at: string): TokenLogprob {
  const alternatives = arrayAt(objectAt(value, at)?.['top_logprobs'], `${at}.top_logprobs`) ?? []
  return {
    ...logprobAt(value, at),
    top_logprobs: alternatives.slice(0, maxAlternatives).map((other) => logprobAt(other, `${at}.top_logprobs`)),
  }
}

function logprobAt(value: unknown, at: string): Omit<TokenLogprob, 'top_logprobs'> {
  const token = objectAt(value, at) ?? {}
  // JSON has no number for what cannot be.
  const logprob = token['logprob'] ?? leastLogprob
  if (typeof logprob !== 'number') throw invalid(`${at}.logprob must be a number`)
  const given = token['bytes']
  const bytes = isArray(given) && given.length <= maxIdLength && given.every(isByte) ? given : null
  return { token: stringAt(token['token'], `${at}.token`, maxIdLength) ?? '', logprob, bytes }
}

/** What the interface's own servers write for it. */
const leastLogprob = -9999

function isByte(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
}

/** The text of a model's thinking. Servers that send several of these members send the same in each. */
function thoughtOf(delta: JsonObject): string {
  return (
    textIn(delta['reasoning_content']) ||
    textIn(delta['reasoning']) ||
    textIn(delta['thinking']) ||
    textIn(delta['reasoning_text']) ||
    textIn(delta['reasoning_details'] ?? delta['thinking_blocks'])
  )
}

/** A text, an object that has one, or a list of them. */
function textIn(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  if (isArray(value)) return value.map((one) => textIn(one)).join('')
  if (!isJsonObject(value)) return ''
  const text = value['text'] ?? value['summary'] ?? value['thinking'] ?? value['content']
  return typeof text === 'string' ? text : ''
}
