import { ModelFailure } from '../../domain/model-failure.ts'
import type { ModelAbilities } from '../../domain/provided-models.ts'
import type { ChatRequest, PromptMessage } from '../../services/runs/chat-model.ts'
import { isLeast } from './optional-members.ts'
import { withShownByTools } from './shown-by-tools.ts'

const unseen = { type: 'text' as const, text: '[A picture that this model cannot see.]' }

/** What the request asks of a model that cannot do it; undefined if it can, or nobody knows. */
export function unableTo(
  { pictures, tools, thinking, json }: ModelAbilities,
  request: ChatRequest,
): string | undefined {
  const { responseFormat: format, sampling, setByCaller = [] } = request
  const newest = request.messages.findLast(({ role }) => role === 'user')
  if (pictures === false && newest !== undefined && hasPicture(newest)) return 'sees no pictures'
  if (json === false && format?.type === 'json_schema' && setByCaller.includes('response_format'))
    return 'writes no JSON by a schema'
  const effort = sampling.reasoning_effort
  if (thinking === false && setByCaller.includes('reasoning_effort') && !isLeast(effort ?? 'none'))
    return 'does not think'
  return tools === false && request.tools.length > 0 ? 'calls no tools' : undefined
}

/** Pictures of earlier messages and of results of tools become words for a model that sees none. */
export function withoutPictures(messages: PromptMessage[]): PromptMessage[] {
  return withShownByTools(messages, false).map((message) =>
    message.role === 'user' && hasPicture(message) && typeof message.content !== 'string'
      ? { ...message, content: message.content.map((part) => (part.type === 'image_url' ? unseen : part)) }
      : message,
  )
}

export function cannot(what: string): ModelFailure {
  return new ModelFailure(`The model ${what}.`, { statusCode: 400, type: 'model_refused_request', retryable: false })
}

function hasPicture(message: PromptMessage): boolean {
  return typeof message.content !== 'string' && !!message.content?.some(({ type }) => type === 'image_url')
}
