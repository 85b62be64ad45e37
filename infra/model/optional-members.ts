import type OpenAI from 'openai'
import type { OptionalMember } from './dialects.ts'

export type RequestBody = OpenAI.ChatCompletionCreateParamsStreaming

/** Whether a request has the member. */
export function isPresent(name: OptionalMember, body: RequestBody): boolean {
  if (name !== 'strict') return body[name] !== undefined
  return strictOf(body).some((strict) => strict !== undefined && strict !== null)
}

function strictOf({ tools = [], response_format: format }: RequestBody) {
  const ofTools = tools.map((tool) => (tool.type === 'function' ? tool.function.strict : undefined))
  return [...ofTools, format?.type === 'json_schema' ? format.json_schema.strict : undefined]
}

/** Whether the model answers the same without the member. */
export function changesNoAnswer(name: OptionalMember, body: RequestBody): boolean {
  switch (name) {
    case 'stream_options':
    case 'user':
    case 'safety_identifier':
    case 'prompt_cache_key':
    case 'service_tier':
      return true
    case 'temperature':
    case 'top_p':
      return body[name] === 1
    case 'frequency_penalty':
    case 'presence_penalty':
      return body[name] === 0
    case 'parallel_tool_calls':
      return body.parallel_tool_calls === true
    case 'logprobs':
      return body.logprobs === false
    case 'tool_choice':
      return body.tool_choice === 'auto' || body.tool_choice === 'none'
    case 'strict':
      return !strictOf(body).includes(true)
    // A model that does not think at all does not know the member.
    case 'reasoning_effort':
      return isLeast(body.reasoning_effort)
    default:
      return false
  }
}

/** Efforts below `low`, which not every model that thinks has. */
export function isLeast(effort: unknown): boolean {
  return effort === 'none' || effort === 'minimal'
}
