import { createHash } from 'node:crypto'
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import { addAll } from '../../../domain/add-all.ts'
import type { NativeKind } from '../../../domain/model-providers.ts'
import type { PromptPart } from '../../../services/attachments/prompt-parts.ts'
import type { PromptMessage } from '../../../services/runs/chat-model.ts'
import type { Trait } from '../dialects.ts'
import { exactValue } from '../foreign-values.ts'
import { toolName, withShownByTools } from '../wire-messages.ts'
import { type AnswerPiece, readPieces } from './answer-pieces.ts'
import { type CacheMark, markedForCache } from './cache-marks.ts'

type AssistantMessage = Extract<PromptMessage, { role: 'assistant' }>
type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

interface PromptOptions {
  kind: NativeKind
  /** The server and family of models that are asked. */
  origin: string
  /** What the provider sent with its earlier answers goes back to it. */
  withMetadata: boolean
  cacheMark: CacheMark | undefined
}

/**
 * The conversation as the provider packages take it: instructions first, then turns that the user begins, and the results
 * of one answer's calls together.
 */
export function nativePrompt(messages: PromptMessage[], options: PromptOptions): LanguageModelV4Prompt {
  const system = messages.flatMap((message) => (message.role === 'system' ? [message.content] : []))
  const names = new Map<string, string>()
  const turns: LanguageModelV4Prompt = []
  for (const message of withShownByTools(messages, options.kind !== 'deepseek')) {
    if (message.role === 'system') continue
    const turn = turnOf(message, names, options)
    const last = turns.at(-1)
    if (last === undefined && turn.role === 'assistant') turns.push({ role: 'user', content: [ellipsis] })
    if (turn.role === 'tool' && last?.role === 'tool') addAll(last.content, turn.content)
    else if (turn.role !== 'assistant' || turn.content.length > 0) turns.push(turn)
  }
  const instructions: LanguageModelV4Prompt =
    system.length === 0 ? [] : [{ role: 'system', content: system.join('\n\n') }]
  return markedForCache([...instructions, ...turns], options.cacheMark)
}

/** Providers refuse a message without text. */
const ellipsis = { type: 'text' as const, text: '…' }

/** `names` holds the names of tools by the ids of their calls. */
function turnOf(
  message: Exclude<PromptMessage, { role: 'system' }>,
  names: Map<string, string>,
  options: PromptOptions,
): LanguageModelV4Message {
  switch (message.role) {
    case 'user': {
      const parts = userParts(message)
      return { role: 'user', content: parts.length === 0 ? [ellipsis] : parts }
    }
    case 'tool':
      return { role: 'tool', content: [toolResult(message, names, options.kind)] }
    case 'assistant':
      for (const call of message.tool_calls ?? []) names.set(call.id, nameFor(call.function.name, options.kind))
      return { role: 'assistant', content: assistantContent(message, options) }
  }
}

function toolResult(
  { tool_call_id: id, content }: Extract<PromptMessage, { role: 'tool' }>,
  names: Map<string, string>,
  kind: NativeKind,
): LanguageModelV4ToolResultPart {
  return {
    type: 'tool-result',
    toolCallId: callIdFor(id, kind),
    toolName: names.get(id) ?? 'tool',
    output: { type: 'text', value: content },
  }
}

function assistantContent(message: AssistantMessage, { kind, origin, withMetadata }: PromptOptions): AssistantContent {
  const isOwn = withMetadata && message.provider?.origin === origin
  const pieces = isOwn ? readPieces(message.provider?.members['pieces']) : undefined
  const whole = pieces === undefined ? undefined : contentOf(message, pieces, kind)
  // A message that was changed since is sent without what belonged to it, except with its calls.
  return whole ?? contentOf(message, plainPieces(message, pieces ?? []), kind) ?? []
}

function plainPieces({ content, tool_calls: calls = [] }: AssistantMessage, known: AnswerPiece[]): AnswerPiece[] {
  const text = content ?? ''
  const ofCalls = known.flatMap((piece) => (piece.type === 'call' ? [piece] : []))
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, chars: text.length }]),
    ...calls.map((_call, index) => ofCalls.find((piece) => piece.index === index) ?? { type: 'call' as const, index }),
  ]
}

/** The message in its pieces; undefined if they are not all of it. */
function contentOf(message: AssistantMessage, pieces: AnswerPiece[], kind: NativeKind): AssistantContent | undefined {
  const { reasoning = '', tool_calls: calls = [] } = message
  const text = message.content ?? ''
  const content: AssistantContent = []
  let thought = 0
  let said = 0
  let called = 0
  for (const piece of pieces) {
    const options = piece.options === undefined ? {} : { providerOptions: piece.options }
    switch (piece.type) {
      case 'reasoning':
        content.push({ type: 'reasoning', text: reasoning.slice(thought, thought + piece.chars), ...options })
        thought += piece.chars
        break
      case 'text':
        content.push({ type: 'text', text: text.slice(said, said + piece.chars), ...options })
        said += piece.chars
        break
      case 'custom':
        content.push({ type: 'custom', kind: piece.kind, ...options })
        break
      case 'call': {
        const call = calls[piece.index]
        if (call === undefined) return undefined
        called += 1
        content.push({
          type: 'tool-call',
          toolCallId: callIdFor(call.id, kind),
          toolName: nameFor(call.function.name, kind),
          input: exactValue(call.function.arguments),
          ...options,
        })
      }
    }
  }
  const isSaid = said === text.length && called === calls.length
  const isThought = thought === reasoning.length || pieces.every(({ type }) => type !== 'reasoning')
  return isSaid && isThought ? content : undefined
}

export function nameFor(name: string, kind: NativeKind): string {
  return toolName(name, nativeTraits(kind))
}

/** Providers take letters, digits, `_` and `-` in ids; Mistral nine letters and digits. */
function callIdFor(id: string, kind: NativeKind): string {
  const isTaken = kind === 'mistral' ? /^[a-zA-Z0-9]{9}$/.test(id) : /^[\w-]{1,64}$/.test(id)
  if (isTaken) return id
  const hash = createHash('sha256').update(id).digest('hex')
  return kind === 'mistral' ? hash.slice(0, 9) : `call_${hash.slice(0, 24)}`
}

const noTraits: ReadonlySet<Trait> = new Set()
const plainNames: ReadonlySet<Trait> = new Set(['plain_names'])

/** How names of tools are written for a provider. */
function nativeTraits(kind: NativeKind): ReadonlySet<Trait> {
  return kind === 'google' || kind === 'bedrock' ? plainNames : noTraits
}

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart

/** What a person sent. Providers know no names, so that a text says who speaks where several do. */
function userParts({ content, name }: Extract<PromptMessage, { role: 'user' }>): UserPart[] {
  const parts: PromptPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const said = parts.flatMap((part) => userPart(part))
  return name === undefined ? said : [{ type: 'text', text: `${name}:` }, ...said]
}

function userPart(part: PromptPart): UserPart[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
    case 'image_url':
      return [filePart(part.image_url.url, 'image')]
    case 'input_audio': {
      const { data, format } = part.input_audio
      const mediaType = format === 'wav' ? 'audio/wav' : 'audio/mpeg'
      return [{ type: 'file', mediaType, data: { type: 'data', data } }]
    }
    case 'file':
      return [{ ...filePart(part.file.file_data, 'application/octet-stream'), filename: part.file.filename }]
  }
}

function filePart(url: string, usualType: string): LanguageModelV4FilePart {
  const [, mediaType = usualType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  if (data !== undefined) return { type: 'file', mediaType, data: { type: 'data', data } }
  return { type: 'file', mediaType: usualType, data: { type: 'url', url: new URL(url) } }
}
