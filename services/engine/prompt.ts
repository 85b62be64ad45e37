import type { Message } from '../../domain/messages.ts'
import type { PromptMessage } from './chat-model.ts'

const noResult = 'There is no result of this call.'

/**
 * A conversation as the model is shown it. Interfaces of this kind refuse a tool call without an
 * answer and an answer without its call, and threads can be edited from outside: a missing answer is
 * said to be missing, a stray one is left out.
 */
export function promptOf(messages: Message[], systemMessages: string[]): PromptMessage[] {
  const answers = new Map(
    messages.flatMap((message) =>
      message.type === 'ToolMessage' ? [[message.data.tool_call_id, message.data.content] as const] : [],
    ),
  )
  const system = systemMessages.filter((text) => text !== '').map((content) => ({ role: 'system' as const, content }))
  return [...system, ...messages.flatMap((message) => promptParts(message, answers))]
}

function promptParts(message: Message, answers: Map<string, string>): PromptMessage[] {
  switch (message.type) {
    case 'HumanMessage':
      return [{ role: 'user', content: message.data.content }]
    case 'SystemMessage':
      return [{ role: 'system', content: message.data.content }]
    case 'AIMessage': {
      const { content, tool_calls: calls = [] } = message.data
      if (calls.length === 0) return content === '' ? [] : [{ role: 'assistant', content }]
      return [
        {
          role: 'assistant',
          content: content === '' ? null : content,
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: JSON.stringify(call.args) },
          })),
        },
        ...calls.map((call) => ({
          role: 'tool' as const,
          tool_call_id: call.id,
          content: answers.get(call.id) ?? noResult,
        })),
      ]
    }
    case 'ToolMessage':
      // Said right after its call, above.
      return []
  }
}
