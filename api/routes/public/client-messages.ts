import { Value } from 'typebox/value'
import { ContentPartInput } from '../../../domain/content-parts.ts'
import { invalidInput } from '../../../domain/errors.ts'
import type { RunMessageInput } from '../../../domain/messages.ts'
import { readPartialObject } from '../../../domain/partial-json.ts'
import type { ChatMessage, ContentPart } from './chat-schemas.ts'

type Loc = (string | number)[]

/** Converts the messages of a chat-completions request. Throws `invalid_input` for content that cannot be read. */
export function messagesOfChat(messages: ChatMessage[]): RunMessageInput[] {
  return withCallIds(messages).map((message, index) => messageOf(message, ['body', 'messages', index]))
}

/** Calls and results by their old names have no ids: a result follows its call. */
function withCallIds(messages: ChatMessage[]): ChatMessage[] {
  let count = 0
  return messages.map((message): ChatMessage => {
    const { role, function_call: call } = message
    if (role === 'assistant' && call) {
      count += 1
      const own = { id: `function_${count}`, function: call }
      return { ...message, tool_calls: [...(message.tool_calls ?? []), own] }
    }
    return role === 'function' ? { ...message, role: 'tool', tool_call_id: `function_${count}` } : message
  })
}

function messageOf(message: ChatMessage, loc: Loc): RunMessageInput {
  const at = [...loc, 'content']
  const name = message.name ? { name: message.name } : {}
  if (message.role === 'user') {
    requireContent(message.content, at)
    return { type: 'HumanMessage', data: { content: partsOf(message.content ?? '', at), ...name } }
  }
  const data = { content: textOf(message.content ?? message.refusal ?? '', at), ...name }
  switch (message.role) {
    case 'system':
    case 'developer':
      return { type: 'SystemMessage', data }
    case 'assistant': {
      const calls = (message.tool_calls ?? []).flatMap(({ id, function: called }) =>
        called === undefined
          ? []
          : [{ id, name: called.name, args: readPartialObject(called.arguments), type: 'tool_call' as const }],
      )
      return { type: 'AIMessage', data: { ...data, ...(calls.length > 0 ? { tool_calls: calls } : {}) } }
    }
    case 'tool':
    case 'function':
      if (!message.tool_call_id)
        throw invalidInput([...loc, 'tool_call_id'], 'is required of a tool message', 'missing')
      return { type: 'ToolMessage', data: { ...data, tool_call_id: message.tool_call_id } }
  }
}

/** Throws `invalid_input` for missing content; an empty text is content. */
export function requireContent(content: string | ContentPart[] | null | undefined, loc: Loc): void {
  if (content === undefined || content === null || (Array.isArray(content) && content.length === 0))
    throw invalidInput(loc, 'is required of a message of role user', 'missing')
}

/** Text, and parts of which one at least is not text. */
function partsOf(content: string | ContentPart[], loc: Loc): string | ContentPartInput[] {
  if (typeof content === 'string' || content.every(isText)) return textOf(content, loc)
  return content.map((part, index) => {
    if (Value.Check(ContentPartInput, part)) return part
    const isKnown = ['text', 'image_url', 'input_audio', 'file'].includes(part.type)
    throw invalidInput(
      [...loc, index, ...(isKnown ? [part.type] : [])],
      isKnown ? `is missing, wrong or too long` : `${part.type} is not available here`,
      isKnown ? 'type' : 'unsupported',
    )
  })
}

const isText = ({ type }: ContentPart) => type === 'text' || type === 'refusal'

/**
 * Content as a text, or in parts that are joined. Images, sound and files are refused, because the answer would be
 * wrong without them.
 */
export function textOf(content: string | ContentPart[], loc: Loc): string {
  if (typeof content === 'string') return content
  return content
    .map((part, index) => {
      const text = part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : undefined
      if (text === undefined) throw invalidInput([...loc, index], `parts of type ${part.type} are not supported`)
      return text
    })
    .join('')
}
