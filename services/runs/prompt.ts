import { type CallResults, resultsOfCalls } from '../../domain/call-results.ts'
import type { StoredMessage } from '../../domain/messages.ts'
import { promptPartsOf, shownByTool } from '../attachments/prompt-parts.ts'
import type { PromptMessage, ProviderMetadata } from './chat-model.ts'

const noResult = 'There is no result of this call.'

/**
 * The conversation in the form that the model is sent. OpenAI-compatible servers refuse a tool call without a
 * result and a result without a call, and threads can be edited by users: a missing result is replaced by a text
 * that says so, a stray one is left out.
 */
export function promptOf(
  messages: StoredMessage[],
  systemMessages: string[],
  context: PromptContext = {},
): PromptMessage[] {
  const results = resultsOfCalls(messages)
  const system = systemMessages.filter((text) => text !== '').map((content) => ({ role: 'system' as const, content }))
  return [...system, ...messages.flatMap((message) => promptParts(message, results, context))]
}

interface PromptContext {
  attachments?: Map<string, Buffer>
  openMetadata?(sealed: string): ProviderMetadata | undefined
}

function promptParts(
  message: StoredMessage,
  results: CallResults,
  { attachments = new Map(), openMetadata }: PromptContext,
): PromptMessage[] {
  switch (message.type) {
    case 'HumanMessage':
      if (message.data.deleted) return []
      return [
        { role: 'user', content: promptPartsOf(message, attachments) ?? message.data.content, ...nameOf(message) },
      ]
    case 'SystemMessage':
      return [{ role: 'system', content: message.data.content, ...nameOf(message) }]
    case 'AIMessage': {
      const { refusal = '', tool_calls: calls = [], reasoning, provider_metadata: sealed } = message.data
      const provider = sealed === undefined ? undefined : openMetadata?.(sealed)
      const thought = { ...(reasoning && { reasoning }), ...(provider && { provider }) }
      const content = message.data.content || refusal
      if (calls.length === 0)
        return content === '' ? [] : [{ role: 'assistant', content, ...nameOf(message), ...thought }]
      const ids = distinctIds(calls.map(({ id }) => id))
      return [
        {
          role: 'assistant',
          content: content === '' ? null : content,
          ...nameOf(message),
          ...thought,
          tool_calls: calls.map((call, index) => ({
            id: ids[index] ?? call.id,
            type: 'function',
            function: { name: call.name, arguments: JSON.stringify(call.args) },
          })),
        },
        ...calls.map((call, index) => {
          const result = results.get(message.data.id)?.[index]
          const shown = result && shownByTool(result, attachments)
          return {
            role: 'tool' as const,
            tool_call_id: ids[index] ?? call.id,
            content: result?.data.content ?? noResult,
            ...(shown?.length ? { shown } : {}),
          }
        }),
      ]
    }
    case 'ToolMessage':
      // Was added after its call, above.
      return []
  }
}

/** Who speaks, where several do. Servers refuse other characters. */
function nameOf({ data: { name } }: StoredMessage): { name?: string } {
  return name !== undefined && /^[\w-]{1,64}$/.test(name) ? { name } : {}
}

/** Callers may send an answer whose calls have the same id. */
function distinctIds(ids: string[]): string[] {
  const taken = new Set<string>()
  return ids.map((id, index) => {
    let distinct = id
    while (taken.has(distinct)) distinct = `${distinct}_${index}`
    taken.add(distinct)
    return distinct
  })
}
