import { createHash } from 'node:crypto'
import type OpenAI from 'openai'
import { addAll } from '../../domain/add-all.ts'
import type { NativeKind } from '../../domain/model-providers.ts'
import type { PromptPart } from '../../services/attachments/prompt-parts.ts'
import type { PromptMessage, ProviderMetadata } from '../../services/runs/chat-model.ts'
import type { CollectedMembers } from './answer-members.ts'
import type { Trait } from './dialects.ts'
import { defaultBaseUrl } from './guarded-fetch.ts'

type WireMessage = OpenAI.ChatCompletionMessageParam
type AssistantMessage = Extract<WireMessage, { role: 'assistant' }>
type UserContent = Extract<WireMessage, { role: 'user' }>['content']

/** The conversation in the form in which a server takes it. `origin` is the server and model that are asked. */
export function wireMessages(messages: PromptMessage[], traits: ReadonlySet<Trait>, origin: string): WireMessage[] {
  const seen = withShownByTools(messages, !traits.has('no_pictures_of_tools'))
  let wire = joinedAtBeginning(seen.map((message) => wireMessage(message, traits, origin)))
  if (traits.has('one_system_message')) wire = oneSystemMessage(wire)
  if (traits.has('past_calls_as_text')) wire = pastCallsAsText(wire)
  if (traits.has('system_in_first_message')) wire = systemInFirstMessage(oneSystemMessage(wire))
  if (traits.has('turns_alternate')) wire = inTurns(wire)
  if (traits.has('text_content')) wire = wire.map(withTextContent)
  if (traits.has('developer_role'))
    wire = wire.map((message) => (message.role === 'system' ? { ...message, role: 'developer' } : message))
  return wire
}

function wireMessage(message: PromptMessage, traits: ReadonlySet<Trait>, origin: string): WireMessage {
  switch (message.role) {
    case 'tool': {
      const { shown: _shown, ...result } = message
      return { ...result, tool_call_id: callId(message.tool_call_id, traits) }
    }
    case 'assistant':
      return assistantMessage(message, traits, origin)
    default:
      return message
  }
}

function assistantMessage(
  { content, name, tool_calls: calls, reasoning = '', provider }: Extract<PromptMessage, { role: 'assistant' }>,
  traits: ReadonlySet<Trait>,
  origin: string,
): AssistantMessage {
  const members = traits.has('no_thinking_back') ? undefined : membersFor(provider, origin)
  const named = name === undefined ? {} : { name }
  if (calls === undefined) return { role: 'assistant', content, ...named, ...members?.message }
  const member = members?.reasoning ?? (traits.has('thinking_with_calls') ? 'reasoning_content' : undefined)
  // A server that wants thinking with every call refuses an empty one.
  const thought = traits.has('thinking_with_calls') ? reasoning || ' ' : reasoning
  return {
    role: 'assistant',
    content,
    ...named,
    ...(member === undefined || thought === '' ? {} : { [member]: thought }),
    ...members?.message,
    tool_calls: calls.map((call, index) => ({
      id: callId(call.id, traits),
      type: call.type,
      function: { name: toolName(call.function.name, traits), arguments: call.function.arguments },
      ...(index === 0 && traits.has('signed_calls') ? unsigned : {}),
      ...members?.calls?.[index],
    })),
  }
}

/** What Google documents for calls that another model made. */
const unsigned = { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } }

/** Every server takes letters, digits, `_` and `-`, at most 64; threads can come with other names. */
export function toolName(name: string, traits: ReadonlySet<Trait>): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64)
  return traits.has('plain_names') && !/^[a-zA-Z]/.test(plain) ? `t_${plain}`.slice(0, 64) : plain
}

const idLetters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

function callId(id: string, traits: ReadonlySet<Trait>): string {
  if (!traits.has('short_call_ids') || /^[a-zA-Z0-9]{9}$/.test(id)) return id
  const hash = createHash('sha256').update(id).digest()
  return [...hash.subarray(0, 9)].map((byte) => idLetters.charAt(byte % idLetters.length)).join('')
}

function textOf(content: WireMessage['content']): string {
  if (typeof content === 'string') return content
  return (content ?? []).flatMap((part) => ('text' in part ? [part.text] : [])).join('\n')
}

/** The system messages at the beginning, as one. */
function joinedAtBeginning(messages: WireMessage[]): WireMessage[] {
  const count = messages.findIndex(({ role }) => role !== 'system')
  if (count < 2) return messages
  return [systemMessage(messages.slice(0, count)), ...messages.slice(count)]
}

function oneSystemMessage(messages: WireMessage[]): WireMessage[] {
  const system = messages.filter(({ role }) => role === 'system')
  const others = messages.filter(({ role }) => role !== 'system')
  return system.length === 0 ? others : [systemMessage(system), ...others]
}

function systemMessage(messages: WireMessage[]): WireMessage {
  return { role: 'system', content: messages.map(({ content }) => textOf(content)).join('\n\n') }
}

function systemInFirstMessage([system, ...others]: WireMessage[]): WireMessage[] {
  if (system?.role !== 'system') return system === undefined ? [] : [system, ...others]
  return inTurns([{ role: 'user', content: textOf(system.content) }, ...others])
}

/** Joins neighbouring messages of one role. The conversation begins with the user, and results are followed by the model. */
function inTurns(messages: WireMessage[]): WireMessage[] {
  const turns: WireMessage[] = []
  for (const message of messages) {
    const last = turns.at(-1)
    if (message.role === 'assistant' && (last === undefined || last.role === 'system'))
      turns.push({ role: 'user', content: '…' })
    if (message.role === 'user' && last?.role === 'tool') turns.push({ role: 'assistant', content: '…' })
    const both = last === undefined ? undefined : joined(last, message)
    if (both === undefined) turns.push(message)
    else turns[turns.length - 1] = both
  }
  return turns
}

function joined(a: WireMessage, b: WireMessage): WireMessage | undefined {
  if (a.role === 'user' && b.role === 'user') return { role: 'user', content: joinedContent(a.content, b.content) }
  if (a.role !== 'assistant' || b.role !== 'assistant' || a.tool_calls !== undefined) return undefined
  const content = [textOf(a.content), textOf(b.content)].filter((text) => text !== '').join('\n\n')
  return { ...b, content }
}

function joinedContent(a: UserContent, b: UserContent): UserContent {
  if (typeof a === 'string' && typeof b === 'string') return `${a}\n\n${b}`
  return [a, b].flatMap((content) =>
    typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content,
  )
}

/** Before the newest message of the user, calls and their results become text of the answers that made them. */
function pastCallsAsText(messages: WireMessage[]): WireMessage[] {
  const newest = messages.findLastIndex(({ role }) => role === 'user')
  const results = new Map(
    messages.flatMap((message) =>
      message.role === 'tool' ? [[message.tool_call_id, textOf(message.content)] as const] : [],
    ),
  )
  return messages.flatMap((message, index): WireMessage[] => {
    if (index > newest) return [message]
    if (message.role === 'tool') return []
    if (message.role !== 'assistant' || message.tool_calls === undefined) return [message]
    const told = message.tool_calls.flatMap((call) =>
      call.type === 'function' ? [`(${call.function.name}: ${results.get(call.id) ?? ''})`] : [],
    )
    return [
      { role: 'assistant', content: [textOf(message.content), ...told].filter((text) => text !== '').join('\n\n') },
    ]
  })
}

function withTextContent(message: WireMessage): WireMessage {
  switch (message.role) {
    case 'assistant':
      return { ...message, content: textOf(message.content) }
    case 'user': {
      const { content } = message
      const isText = typeof content === 'string' || content.every((part) => part.type === 'text')
      return isText ? { ...message, content: textOf(content) } : message
    }
    default:
      return message
  }
}

type ToolMessage = Extract<PromptMessage, { role: 'tool' }>

/**
 * Results of tools are texts for most servers: the pictures and files in them follow as a message of the user, or a note
 * says that they cannot be seen. Results that have only text stay as they are.
 */
export function withShownByTools(messages: PromptMessage[], canSee: boolean): PromptMessage[] {
  if (messages.every((message) => message.role !== 'tool' || message.shown === undefined)) return messages
  const turns: PromptMessage[] = []
  let shown: PromptPart[] = []
  for (const message of messages) {
    if (message.role !== 'tool' && shown.length > 0) {
      turns.push({ role: 'user', content: shown })
      shown = []
    }
    if (message.role !== 'tool' || message.shown === undefined) turns.push(message)
    else if (canSee) {
      shown.push({ type: 'text', text: `[From the result of the call ${message.tool_call_id}:]` })
      addAll(shown, message.shown)
      turns.push(textOnly({ ...message, content: message.content || '[The result follows.]' }))
    } else
      turns.push(textOnly({ ...message, content: [message.content, unseen(message.shown)].filter(Boolean).join('\n') }))
  }
  return shown.length > 0 ? [...turns, { role: 'user', content: shown }] : turns
}

function textOnly({ shown: _shown, ...message }: ToolMessage): ToolMessage {
  return message
}

function unseen(shown: PromptPart[]): string {
  return `[The result has ${shown.length} ${shown.length === 1 ? 'picture or file' : 'pictures and files'} that you cannot see.]`
}

interface ModelOrigin {
  baseUrl: string | undefined
  model: string
}

/** The server and family of models to which metadata goes back: `api.deepseek.com/deepseek`. */
export function originOf({ baseUrl = defaultBaseUrl, model }: ModelOrigin): string {
  const name = model.toLowerCase().split('/').at(-1) ?? ''
  return `${new URL(baseUrl).host}/${/^[a-z]+/.exec(name)?.[0] ?? name}`
}

/** The names of models at Azure and Bedrock are not those of families. */
export function nativeOriginOf(kind: NativeKind, { baseUrl, model }: ModelOrigin & { baseUrl: string }): string {
  const isFamily = kind !== 'azure' && kind !== 'bedrock'
  return `${kind}:${isFamily ? originOf({ baseUrl, model }) : `${new URL(baseUrl).host}/${model}`}`
}

export function metadataOf(origin: string, members: CollectedMembers | undefined): ProviderMetadata | undefined {
  return members === undefined ? undefined : { origin, members: { ...members } }
}

/** What of a message's metadata goes back to this server. The service wrote it, and sealed it. */
function membersFor(metadata: ProviderMetadata | undefined, origin: string): CollectedMembers | undefined {
  return metadata?.origin === origin ? metadata.members : undefined
}
