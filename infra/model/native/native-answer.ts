import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider'
import { maxCallIndex } from '../../../domain/messages.ts'
import type { Usage } from '../../../domain/records/run.ts'
import type { AnswerDelta } from '../../../services/runs/chat-model.ts'
import {
  countOf,
  createByteCount,
  createSources,
  maxArgumentsBytes,
  maxIdLength,
  maxNameLength,
  usageOf,
} from '../answer-members.ts'
import { invalid, stringAt, tooLong } from '../foreign-values.ts'
import { createAnswerPieces } from './answer-pieces.ts'

interface Call {
  index: number
  bytes: number
  /** It came as a whole: the same id again is that of another call. */
  isWhole: boolean
}

interface NativeAnswerOptions {
  /** The names of tools by those that the provider was offered. */
  names: ReadonlyMap<string, string>
  /** Sources that the provider names are added to the text. */
  addSources: boolean
  /** Restores numbers in the arguments of calls. */
  argumentsText(text: string): string
}

/** Reads the parts of an answer. Its size is limited; throws `ModelFailure`. */
export function createNativeAnswer({ names, addSources, argumentsText }: NativeAnswerOptions) {
  const count = createByteCount()
  const sources = createSources()
  const pieces = createAnswerPieces()
  /** The newest of each id. */
  const calls = new Map<string, Call>()
  let callCount = 0
  let finished = false

  function callOf(id: string, name: string): { call: Call; begun: AnswerDelta[] } {
    const known = calls.get(id)
    if (known !== undefined && !known.isWhole) return { call: known, begun: [] }
    if (callCount > maxCallIndex) throw invalid(`there must not be more than ${maxCallIndex + 1} calls`)
    stringAt(id, 'the id of a call', maxIdLength)
    stringAt(name, 'the name of a tool', maxNameLength)
    count(`${id}${name}`)
    const call = { index: callCount, bytes: 0, isWhole: false }
    callCount += 1
    calls.set(id, call)
    return { call, begun: [{ type: 'call', index: call.index, id, name: names.get(name) ?? name }] }
  }

  function argumentsOf(call: Call, text: string): AnswerDelta[] {
    if (text === '') return []
    call.bytes += count(text)
    if (call.bytes > maxArgumentsBytes)
      throw tooLong(`has a call with arguments of more than ${maxArgumentsBytes} bytes`)
    return [{ type: 'call', index: call.index, args: text }]
  }

  function deltasOf(part: LanguageModelV4StreamPart): AnswerDelta[] {
    switch (part.type) {
      case 'text-delta':
        count(part.delta)
        return part.delta === '' ? [] : [{ type: 'text', text: part.delta }]
      case 'reasoning-delta':
        count(part.delta)
        return part.delta === '' ? [] : [{ type: 'reasoning', text: part.delta }]
      case 'tool-input-start':
        return callOf(part.id, part.toolName).begun
      case 'tool-input-delta': {
        const call = calls.get(part.id)
        return call === undefined ? [] : argumentsOf(call, argumentsText(part.delta))
      }
      case 'tool-call': {
        if (part.providerExecuted) return []
        const { call, begun } = callOf(part.toolCallId, part.toolName)
        call.isWhole = true
        // Its input comes in pieces before it, or only here.
        return [...begun, ...(call.bytes === 0 ? argumentsOf(call, argumentsText(part.input)) : [])]
      }
      case 'source':
        if (part.sourceType === 'url') sources.addUrls([{ url: part.url, title: part.title }])
        return []
      case 'finish':
        return finish(part)
      default:
        return []
    }
  }

  function finish({ usage, finishReason }: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): AnswerDelta[] {
    const { unified, raw } = finishReason
    // The packages end each stream with this part; without a reason the provider did not end it.
    finished = unified !== 'interrupted' && unified !== 'error' && (unified !== 'other' || raw !== undefined)
    const counted = readUsage(usage)
    const cut = unified === 'length' || unified === 'content-filter' ? unified : undefined
    return [
      ...(cut === undefined
        ? []
        : [{ type: 'cut' as const, reason: cut === 'length' ? cut : ('content_filter' as const) }]),
      ...(counted === undefined ? [] : [{ type: 'usage' as const, usage: counted }]),
    ]
  }

  return {
    read(part: LanguageModelV4StreamPart): AnswerDelta[] {
      const deltas = deltasOf(part)
      const id =
        part.type === 'tool-call' ? part.toolCallId : part.type.startsWith('tool-input') ? idOf(part) : undefined
      pieces.read(part, id === undefined ? undefined : calls.get(id)?.index)
      return deltas
    },
    /** What is left when the stream has ended. */
    end(): AnswerDelta[] {
      const list = addSources ? sources.list() : ''
      if (list === '') return []
      pieces.read({ type: 'text-delta', id: 'sources', delta: list })
      return [{ type: 'text', text: list }]
    },
    /** Whether the provider said that the answer is complete. */
    get finished() {
      return finished
    },
    /** What must go back with the message. */
    get pieces() {
      return pieces.all()
    },
  }
}

function idOf(part: LanguageModelV4StreamPart): string | undefined {
  return 'id' in part && typeof part.id === 'string' ? part.id : undefined
}

function readUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  const prompt = tokensOf(inputTokens.total)
  const completion = tokensOf(outputTokens.total)
  if (prompt === undefined || completion === undefined) return undefined
  return usageOf({
    prompt,
    completion,
    cached: tokensOf(inputTokens.cacheRead),
    written: tokensOf(inputTokens.cacheWrite),
    reasoning: tokensOf(outputTokens.reasoning),
  })
}

const tokensOf = (value: number | undefined) => (value === undefined ? undefined : countOf(value))
