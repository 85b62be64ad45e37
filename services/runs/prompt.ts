import type { Message } from '../../domain/messages.ts'
import type { PromptMessage } from './chat-model.ts'

const noResult = 'There is no result of this call.'

/**
 * The conversation in the form that the model is sent. OpenAI-compatible servers refuse a tool call without a
 * result and a result without a call, and threads can be edited by users: a missing result is replaced by a text
 * that says so, a stray one is left out.
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
      // Was added after its call, above.
      return []
  }
}
