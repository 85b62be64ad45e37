import { addAll } from '../../domain/add-all.ts'
import type { CutReason, TokenLogprob } from '../../domain/messages.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { AnswerDelta } from '../../services/runs/chat-model.ts'
import { createByteCount, maxIdLength, maxNameLength } from './answer-limits.ts'
import { readUsage } from './answer-usage.ts'
import { createCallReader } from './call-reader.ts'
import { createCollectedMembers } from './collected-members.ts'
import { type JsonObject, arrayAt, integerAt, invalid, objectAt, stringAt } from './foreign-values.ts'
import { createSources } from './sources.ts'
import { createTextReader } from './text-reader.ts'

/** The server's own number of a call in the old form, which has one call an answer. */
const oldCallIndex = 0

export interface AnswerReaderOptions {
  /** The template of the model opens the tag of its thinking, so that the text begins as thinking. */
  thinkingIsOpen?: boolean
  /** Sources that the server names beside the text are added to it. */
  addSources?: boolean
}

/**
 * Reads the chunks of a streamed answer, in all the forms that servers give them. The server is not trusted: each
 * chunk is checked before it is used, and the size of the answer is limited. Throws `ModelFailure`, which names the member.
 */
export function createAnswerReader({ thinkingIsOpen = false, addSources = false }: AnswerReaderOptions = {}) {
  const collected = createCollectedMembers()
  const count = createByteCount()
  const sources = createSources()
  const calling = createCallReader({ count, collected })
  const texts = createTextReader({ thinkingIsOpen, count })
  let finished = false
  let hasBegun = false
  let isCut = false
  let hasCalls = false

  function choiceDeltas(choice: JsonObject): AnswerDelta[] {
    // A whole answer, and the last chunk of some servers, have `message` in place of `delta`.
    const given = objectAt(choice['delta'], 'choices[0].delta')
    const isWhole = given === undefined && !hasBegun
    const delta = given ?? (isWhole ? objectAt(choice['message'], 'choices[0].message') : undefined)
    if (delta === undefined) return []
    const at = `choices[0].${given === undefined ? 'message' : 'delta'}`
    const deltas: AnswerDelta[] = []
    const thought = thoughtOf(delta, at)
    if (thought !== '') addAll(deltas, texts.reasoning(thought))
    addAll(deltas, texts.content(delta['content'], `${at}.content`))
    const refused = stringAt(delta['refusal'], `${at}.refusal`)
    if (refused) {
      count(refused)
      deltas.push({ type: 'refusal', text: refused })
    }
    const calls = arrayAt(delta['tool_calls'], `${at}.tool_calls`) ?? []
    for (const [place, call] of calls.entries())
      addAll(deltas, calling.read(call, `${at}.tool_calls[${place}]`, place === 0))
    const old = objectAt(delta['function_call'], `${at}.function_call`)
    if (old !== undefined && calls.length === 0)
      addAll(deltas, calling.read({ index: oldCallIndex, function: old }, `${at}.function_call`, true))
    if (delta['annotations']) sources.addAnnotations(arrayAt(delta['annotations'], `${at}.annotations`) ?? [])
    collected.addMessage(delta)
    hasBegun ||= deltas.length > 0
    hasCalls ||= deltas.some(({ type }) => type === 'call')
    return deltas
  }

  function logprobsOf(choice: JsonObject): AnswerDelta[] {
    const logprobs = objectAt(choice['logprobs'], 'choices[0].logprobs')
    const tokens = (arrayAt(logprobs?.['content'], 'choices[0].logprobs.content') ?? []).map((token) => {
      count(JSON.stringify(token) ?? '')
      return tokenAt(token, 'choices[0].logprobs.content')
    })
    return tokens.length > 0 ? [{ type: 'logprobs', tokens }] : []
  }

  return {
    read(value: unknown): AnswerDelta[] {
      const chunk = objectAt(value, 'a chunk')
      if (chunk === undefined) throw invalid('a chunk must be an object')
      const deltas: AnswerDelta[] = []
      const choice = objectAt(arrayAt(chunk['choices'], 'choices')?.[0], 'choices[0]')
      if (choice !== undefined) {
        if (choice['error']) throw failedMidway(choice['error'])
        addAll(deltas, [...choiceDeltas(choice), ...logprobsOf(choice)])
        const reason = stringAt(choice['finish_reason'], 'choices[0].finish_reason', maxNameLength)
        finished ||= reason !== undefined && reason !== ''
        const cut = cutOf(reason)
        isCut ||= cut !== undefined
        if (cut !== undefined) deltas.push({ type: 'cut', reason: cut })
      }
      if (chunk['citations']) sources.addUrls(chunk['citations'])
      if (chunk['search_results']) sources.addUrls(chunk['search_results'])
      const usage = readUsage(chunk['usage'])
      if (usage !== undefined) deltas.push({ type: 'usage', usage })
      return deltas
    },
    /** What is left when the stream has ended. */
    end(): AnswerDelta[] {
      const deltas = texts.end({ isCut, hasCalls })
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

/** The text of a model's thinking. Servers that send several of these members send the same in each. */
function thoughtOf(delta: JsonObject, at: string): string {
  for (const name of ['reasoning_content', 'reasoning', 'thinking']) {
    const value = delta[name]
    if (typeof value === 'string' && value !== '') return value
  }
  const details = delta['reasoning_details'] ?? delta['thinking_blocks']
  if (details === undefined || details === null) return ''
  return (arrayAt(details, `${at}.reasoning_details`) ?? [])
    .map((value) => {
      const detail = objectAt(value, `${at}.reasoning_details`) ?? {}
      const text = detail['text'] ?? detail['summary'] ?? detail['thinking']
      return typeof text === 'string' ? text : ''
    })
    .join('')
}

function cutOf(reason: string | undefined): CutReason | undefined {
  switch (reason?.toLowerCase()) {
    case 'length':
    case 'max_tokens':
    case 'max_output_tokens':
    case 'model_length':
      return 'length'
    case 'content_filter':
    case 'safety':
    case 'sensitive':
      return 'content_filter'
    default:
      return undefined
  }
}

function failedMidway(error: unknown): ModelFailure {
  return new ModelFailure('The model failed.', {
    statusCode: 502,
    type: 'model_error',
    details: (JSON.stringify(error) ?? '').slice(0, 1000),
    retryable: true,
  })
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
  const logprob = token['logprob']
  if (typeof logprob !== 'number') throw invalid(`${at}.logprob must be a number`)
  const bytes = arrayAt(token['bytes'], `${at}.bytes`)?.map((byte) => integerAt(byte, `${at}.bytes`, 255) ?? 0) ?? null
  return { token: stringAt(token['token'], `${at}.token`, maxIdLength) ?? '', logprob, bytes }
}
