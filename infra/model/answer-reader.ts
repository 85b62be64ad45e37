import { type CutReason, type TokenLogprob } from '../../domain/messages.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { AnswerDelta } from '../../services/runs/chat-model.ts'
import { readUsage } from './answer-usage.ts'
import { createCallSlots } from './call-slots.ts'
import { createCollectedMembers } from './collected-members.ts'
import { type JsonObject, arrayAt, integerAt, invalid, isArray, objectAt, stringAt, tooLong } from './foreign-values.ts'
import { createSources } from './sources.ts'
import { createThinkingTags } from './thinking-tags.ts'

/** Limits for one answer: its texts, and the ids, names and arguments of its calls. */
const maxAnswerBytes = 2 * 1024 * 1024
const maxArgumentsBytes = 1024 * 1024
const maxIdLength = 256
const maxNameLength = 128

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
  const slots = createCallSlots()
  const collected = createCollectedMembers()
  const sources = createSources()
  let tags: ReturnType<typeof createThinkingTags> | undefined = createThinkingTags({ isOpen: thinkingIsOpen })
  let hasOpenedItself = false
  const argumentsBytes = new Map<number, number>()
  let answerBytes = 0
  let finished = false
  let hasContent = false

  function count(text: string): number {
    const bytes = Buffer.byteLength(text)
    answerBytes += bytes
    if (answerBytes > maxAnswerBytes) throw tooLong(`is longer than ${maxAnswerBytes} bytes`)
    return bytes
  }

  function callDeltas(value: unknown, at: string, isFirst: boolean): AnswerDelta[] {
    const piece = objectAt(value, at) ?? {}
    const called = objectAt(piece['function'], `${at}.function`) ?? {}
    const id = idAt(piece['id'], `${at}.id`)
    const name = stringAt(called['name'], `${at}.function.name`, maxNameLength)
    const args = argumentsAt(called['arguments'], `${at}.function.arguments`)
    count(`${id ?? ''}${name ?? ''}`)
    const bytes = count(args)
    const index = integerAt(piece['index'], `${at}.index`, maxCallNumber)
    if (index === undefined && id === undefined && name === undefined && args === '') return []
    return slots.add({ index, id, name, args }, isFirst).map((placed) => {
      const sum = (argumentsBytes.get(placed.index) ?? 0) + bytes
      if (sum > maxArgumentsBytes) throw tooLong(`has a call with arguments of more than ${maxArgumentsBytes} bytes`)
      argumentsBytes.set(placed.index, sum)
      collected.addCall(placed.index, piece)
      return { type: 'call', ...placed }
    })
  }

  function textDeltas(text: string): AnswerDelta[] {
    hasContent = true
    if (tags === undefined) return [{ type: 'text', text }]
    const pieces: AnswerDelta[] = tags.add(text)
    const restart = tags.restart()
    if (restart === undefined) return pieces
    hasOpenedItself = true
    return [{ type: 'restart', ...restart }]
  }

  function reasoningDeltas(text: string): AnswerDelta[] {
    // Who sends thinking in a member of its own has no tags in its text.
    if (!hasContent) tags = undefined
    return [{ type: 'reasoning', text }]
  }

  function partDeltas(value: unknown, at: string): AnswerDelta[] {
    if (typeof value === 'string') return value === '' ? [] : textDeltas(counted(value))
    const part = objectAt(value, at) ?? {}
    const thought = part['thinking'] ?? part['reasoning']
    if (thought !== undefined && thought !== null)
      return (isArray(thought) ? thought : [thought]).flatMap((piece) => {
        const text = typeof piece === 'string' ? piece : (stringAt(objectAt(piece, at)?.['text'], `${at}.text`) ?? '')
        return text === '' ? [] : reasoningDeltas(counted(text))
      })
    const refusal = stringAt(part['refusal'], `${at}.refusal`)
    if (refusal) return [{ type: 'refusal', text: counted(refusal) }]
    const text = stringAt(part['text'], `${at}.text`)
    return text ? textDeltas(counted(text)) : []
  }

  function contentDeltas(value: unknown, at: string): AnswerDelta[] {
    if (isArray(value)) return (arrayAt(value, at) ?? []).flatMap((part, place) => partDeltas(part, `${at}[${place}]`))
    const text = stringAt(value, at)
    return text ? textDeltas(counted(text)) : []
  }

  function counted(text: string): string {
    count(text)
    return text
  }

  function choiceDeltas(choice: JsonObject): AnswerDelta[] {
    // A whole answer, and the last chunk of some servers, have `message` in place of `delta`.
    const given = objectAt(choice['delta'], 'choices[0].delta')
    const isWhole = given === undefined && !hasContent
    const delta = given ?? (isWhole ? objectAt(choice['message'], 'choices[0].message') : undefined)
    if (delta === undefined) return []
    const at = `choices[0].${given === undefined ? 'message' : 'delta'}`
    const deltas: AnswerDelta[] = []
    const thought = thoughtOf(delta, at)
    if (thought !== '') deltas.push(...reasoningDeltas(counted(thought)))
    deltas.push(...contentDeltas(delta['content'], `${at}.content`))
    const refused = stringAt(delta['refusal'], `${at}.refusal`)
    if (refused) deltas.push({ type: 'refusal', text: counted(refused) })
    const calls = arrayAt(delta['tool_calls'], `${at}.tool_calls`) ?? []
    for (const [place, call] of calls.entries())
      deltas.push(...callDeltas(call, `${at}.tool_calls[${place}]`, place === 0))
    const old = objectAt(delta['function_call'], `${at}.function_call`)
    if (old !== undefined && calls.length === 0)
      deltas.push(...callDeltas({ index: oldCallIndex, function: old }, `${at}.function_call`, true))
    if (delta['annotations']) sources.addAnnotations(arrayAt(delta['annotations'], `${at}.annotations`) ?? [])
    collected.addMessage(delta)
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
        deltas.push(...choiceDeltas(choice), ...logprobsOf(choice))
        const reason = stringAt(choice['finish_reason'], 'choices[0].finish_reason', maxNameLength)
        finished ||= reason !== undefined && reason !== ''
        const cut = cutOf(reason)
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
      const last = tags?.end()
      const deltas: AnswerDelta[] = [...(last?.pieces ?? [])]
      if (last?.restart !== undefined) deltas.push({ type: 'restart', ...last.restart })
      const list = addSources ? sources.list() : ''
      if (list !== '') deltas.push({ type: 'text', text: list })
      return deltas
    },
    /** Whether the model said that its answer is complete. */
    get finished() {
      return finished
    },
    /** Whether the text had only the end of its thinking, so that the next answer begins as thinking. */
    get hasOpenedItself() {
      return hasOpenedItself
    },
    /** Members that the server must get back with this message. */
    get members() {
      return collected.members()
    },
  }
}

/** Servers may number calls as they like; which number a call gets here is decided by `createCallSlots`. */
const maxCallNumber = 127

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

/** Some servers count the calls of all answers, and their ids are numbers. */
function idAt(value: unknown, at: string): string | undefined {
  const id = stringAt(typeof value === 'number' ? String(value) : value, at, maxIdLength)
  return id === '' ? undefined : id
}

/** The JSON text of arguments, or of a piece of them. Some servers send the object itself. */
function argumentsAt(value: unknown, at: string): string {
  if (value === undefined || value === null || value === 'null') return ''
  if (typeof value === 'string') return value
  if (typeof value !== 'object') throw invalid(`${at} must be a string`)
  return JSON.stringify(value)
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
