import { addAll } from '../../domain/add-all.ts'
import type { PromptMessage } from '../../services/runs/chat-model.ts'
import type { PromptPart } from '../../services/attachments/prompt-parts.ts'

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
