import { invalidInput } from '../../../domain/errors.ts'
import type { MessageInput } from '../../../domain/messages.ts'
import { readPartialObject } from '../../../domain/partial-json.ts'
import type { ChatMessage, ContentPart } from './chat-schemas.ts'

/** Converts the messages of a chat-completions request. Throws `invalid_input` for content that is not text. */
export function messagesOfChat(messages: ChatMessage[]): MessageInput[] {
  return messages.map((message, index) => messageOf(message, ['body', 'messages', index]))
}

function messageOf(message: ChatMessage, loc: (string | number)[]): MessageInput {
  if (message.role === 'user') requireContent(message.content, [...loc, 'content'])
  const content = textOf(message.content ?? message.refusal ?? '', [...loc, 'content'])
  const data = { content, ...(message.name ? { name: message.name } : {}) }
  switch (message.role) {
    case 'system':
    case 'developer':
      return { type: 'SystemMessage', data }
    case 'user':
      return { type: 'HumanMessage', data }
    case 'assistant': {
      const calls = (message.tool_calls ?? []).flatMap(({ id, function: called }) =>
        called === undefined
          ? []
          : [{ id, name: called.name, args: readPartialObject(called.arguments), type: 'tool_call' as const }],
      )
      return { type: 'AIMessage', data: { ...data, ...(calls.length > 0 ? { tool_calls: calls } : {}) } }
    }
    case 'tool':
      if (!message.tool_call_id)
        throw invalidInput([...loc, 'tool_call_id'], 'is required of a tool message', 'missing')
      return { type: 'ToolMessage', data: { ...data, tool_call_id: message.tool_call_id } }
  }
}

/** Throws `invalid_input` for missing content; an empty text is content. */
export function requireContent(content: string | ContentPart[] | null | undefined, loc: (string | number)[]): void {
  if (content === undefined || content === null || (Array.isArray(content) && content.length === 0))
    throw invalidInput(loc, 'is required of a message of role user', 'missing')
}

/**
 * Content as a text, or in parts that are joined. Images, sound and files are refused, because the answer would be
 * wrong without them.
 */
export function textOf(content: string | ContentPart[], loc: (string | number)[]): string {
  if (typeof content === 'string') return content
  return content
    .map((part, index) => {
      const text = part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : undefined
      if (text === undefined) throw invalidInput([...loc, index], `parts of type ${part.type} are not supported`)
      return text
    })
    .join('')
}
