import type OpenAI from 'openai'
import { maxClientFunctions } from '../../domain/client-tools.ts'
import type { ChatRequest } from '../../services/runs/chat-model.ts'
import { type OptionalMember, type Trait, optionalMembers } from './dialects.ts'
import { type RequestBody, changesNoAnswer } from './optional-members.ts'
import { repairedSchema } from './tool-schema.ts'
import { toolName, wireMessages } from './wire-messages.ts'

/** As long as the interface's own servers take. */
const maxDescriptionLength = 1024

type Asked = Omit<ChatRequest, 'account' | 'signal'>

/**
 * The request in the form that the server takes. A member that the caller set and that changes the answer is sent in any
 * case: the server judges its value.
 */
export function bodyFor(request: Asked, traits: ReadonlySet<Trait>, origin: string): RequestBody {
  const whole = wholeBody(request, traits, origin)
  const left = optionalMembers.filter((name) => traits.has(`without ${name}`) && !isAsked(name, request, whole))
  return left.reduce((body, name) => withoutMember(name, body), whole)
}

function wholeBody(request: Asked, traits: ReadonlySet<Trait>, origin: string): RequestBody {
  const limit = traits.has('max_completion_tokens') ? 'max_completion_tokens' : 'max_tokens'
  return {
    model: request.model,
    messages: wireMessages(request.messages, traits, origin),
    stream: true,
    stream_options: { include_usage: true },
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.maxTokens === undefined ? {} : { [limit]: request.maxTokens }),
    ...samplingParams(request.sampling, traits),
    ...formatParam(request.responseFormat),
    ...(request.logitBias === undefined ? {} : { logit_bias: request.logitBias }),
    ...toolParams(request, traits),
  }
}

/** Servers have more tiers and efforts than the types of the client. */
function samplingParams(sampling: ChatRequest['sampling'], traits: ReadonlySet<Trait>): Partial<RequestBody> {
  const { service_tier: tier, reasoning_effort: effort, ...others } = sampling
  const isRaised = (effort === 'none' || effort === 'minimal') && traits.has(`effort_${effort}_is_low`)
  const usable = isRaised ? 'low' : effort
  return {
    ...others,
    ...(usable === undefined ? {} : { reasoning_effort: usable }),
    ...(tier === undefined ? {} : { service_tier: tier as 'auto' }),
  }
}

/** Servers refuse a choice among tools without tools. */
function toolParams(
  { tools, toolChoice, parallelToolCalls }: Pick<ChatRequest, 'tools' | 'toolChoice' | 'parallelToolCalls'>,
  traits: ReadonlySet<Trait>,
): Pick<RequestBody, 'tools' | 'tool_choice' | 'parallel_tool_calls'> {
  if (tools.length === 0) return {}
  return {
    tools: tools.slice(0, maxClientFunctions).map((tool) => toolParam(tool, traits)),
    ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
    ...(parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
  }
}

function toolParam(
  { name, description, parameters, strict }: ChatRequest['tools'][number],
  traits: ReadonlySet<Trait>,
) {
  return {
    type: 'function' as const,
    function: {
      name: toolName(name, traits),
      ...(description === '' ? {} : { description: shortened(description) }),
      parameters: repairedSchema(parameters, {
        isPlain: traits.has(strict === true ? 'plain_strict_schemas' : 'plain_schemas'),
      }),
      ...(strict === undefined ? {} : { strict }),
    },
  }
}

export function shortened(description: string): string {
  if (description.length <= maxDescriptionLength) return description
  return `${description.slice(0, maxDescriptionLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

function formatParam(format: ChatRequest['responseFormat']): Pick<RequestBody, 'response_format'> {
  if (format?.type === 'json_object') return { response_format: { type: 'json_object' } }
  if (format?.json_schema === undefined) return {}
  return { response_format: { type: 'json_schema', json_schema: format.json_schema } }
}

function withoutMember(name: OptionalMember, body: RequestBody): RequestBody {
  switch (name) {
    case 'strict':
      return withoutStrict(body)
    case 'response_format':
      return withFormatInWords(body)
    default: {
      const { [name]: _left, ...others } = body
      return others
    }
  }
}

/** Whether the caller set the member, and the model would answer otherwise without it. */
export function isAsked(
  name: OptionalMember,
  { setByCaller = [] }: Pick<Asked, 'setByCaller'>,
  body: RequestBody,
): boolean {
  return setByCaller.includes(name) && !changesNoAnswer(name, body)
}

function withoutStrict({ tools, response_format: format, ...body }: RequestBody): RequestBody {
  return {
    ...body,
    ...(tools === undefined ? {} : { tools: tools.map(looseTool) }),
    ...(format === undefined ? {} : { response_format: looseFormat(format) }),
  }
}

function looseTool(tool: OpenAI.ChatCompletionTool): OpenAI.ChatCompletionTool {
  if (tool.type !== 'function') return tool
  const { strict: _strict, ...others } = tool.function
  return { type: 'function', function: others }
}

function looseFormat(format: NonNullable<RequestBody['response_format']>): typeof format {
  if (format.type !== 'json_schema') return format
  const { strict: _strict, ...schema } = format.json_schema
  return { type: 'json_schema', json_schema: schema }
}

/** A model that takes no format is told it in the instructions. */
function withFormatInWords({ response_format: format, messages, ...body }: RequestBody): RequestBody {
  if (format === undefined || format.type === 'text') return { ...body, messages }
  const schema = format.type === 'json_schema' ? JSON.stringify(format.json_schema.schema ?? {}) : undefined
  const words = `Answer with JSON only${schema === undefined ? '.' : `, which fits this JSON Schema: ${schema}`}`
  const [first, ...others] = messages
  if (first?.role === 'system' && typeof first.content === 'string')
    return { ...body, messages: [{ ...first, content: `${first.content}\n\n${words}` }, ...others] }
  return { ...body, messages: [{ role: 'system', content: words }, ...messages] }
}
