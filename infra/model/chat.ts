import type OpenAI from 'openai'
import { maxClientFunctions } from '../../domain/client-tools.ts'
import type { AnswerDelta, ChatModel, ChatRequest } from '../../services/runs/chat-model.ts'
import { createAnswerReader } from './answer-reader.ts'
import { brokenOff, notTaken } from './chat-failures.ts'
import { type Dialects, type OptionalMember, type Trait, createDialects, optionalMembers } from './dialects.ts'
import { failureOf } from './failures.ts'
import { type AnswerLimits, guardFetch, openClient } from './guarded-fetch.ts'
import { type RequestBody, changesNoAnswer } from './optional-members.ts'
import { lessonIn, refusalIn } from './refusals.ts'
import { repairedSchema, shortened } from './tool-schema.ts'
import { metadataOf, originOf, toolName, wireMessages } from './wire-messages.ts'

export interface ChatModelOptions extends AnswerLimits {
  /** Reaches the servers that the settings name. */
  ownFetch: typeof fetch
  /** Reaches addresses that users set; refuses private ones. */
  guardedFetch: typeof fetch
  /** What was learnt of servers. */
  dialects?: Dialects
}

/** In how many forms one question is asked: a server names what it does not take one after the other. */
const maxForms = 8

/**
 * Models of the chat-completions interface, through the `openai` client, which is loaded with the first request.
 * Its own retries are off: the workflow retries, and remembers. Neither `fetch` follows redirects. A server that refuses
 * the form of a request is asked again in the form that it wants, and it is remembered.
 */
export function createChatModel({
  ownFetch,
  guardedFetch,
  silenceMs,
  dialects = createDialects(),
}: ChatModelOptions): ChatModel {
  return {
    async *stream({ account, signal, ...request }) {
      const { apiKey, baseUrl } = account
      const served = { baseUrl, model: request.model, ownKey: account.setByUser ? apiKey : undefined }
      const origin = originOf(served)
      let traits = dialects.of(served)
      const lasting = new Set<Trait>()
      for (let form = 1; ; form++) {
        const guard = guardFetch(account.setByUser ? guardedFetch : ownFetch, { silenceMs })
        const body = bodyFor(request, traits, origin)
        let isAnswering = false
        try {
          const client = await openClient({ apiKey, baseUrl, fetch: guard.fetch, silenceMs })
          const chunks = await client.chat.completions.create(body, { signal })
          for await (const delta of read(chunks, { request, traits, origin, guard, apiKey })) {
            if (!isAnswering && lasting.size > 0) dialects.remember(served, lasting)
            isAnswering = true
            if (delta.type === 'restart' && delta.reasoning !== '') dialects.remember(served, ['open_thinking'])
            else if (delta.type === 'restart' && traits.has('open_thinking')) dialects.forget(served, 'open_thinking')
            yield delta
          }
          return
        } catch (error) {
          signal.throwIfAborted()
          const refusal = isAnswering || guard.failure !== undefined ? undefined : refusalIn(error)
          const lesson =
            refusal && lessonIn(refusal, { body, known: traits, isDemanded: (name) => isDemanded(name, request, body) })
          const failure = failureOf(guard.failure ?? error, apiKey)
          if (lesson !== undefined && 'unknown' in lesson) throw notTaken(lesson.unknown, failure)
          if (lesson === undefined || form >= maxForms) throw failure
          traits = new Set([...traits, ...lesson.traits])
          if (lesson.isLasting) for (const trait of lesson.traits) lasting.add(trait)
        } finally {
          guard.close()
        }
      }
    },
  }

  async function* read(
    chunks: AsyncIterable<unknown>,
    {
      request,
      traits,
      origin,
      guard,
      apiKey,
    }: {
      request: Omit<ChatRequest, 'account' | 'signal'>
      traits: ReadonlySet<Trait>
      origin: string
      guard: ReturnType<typeof guardFetch>
      apiKey: string
    },
  ): AsyncGenerator<AnswerDelta> {
    const names = ownNames(request, traits)
    const answer = createAnswerReader({
      apiKey,
      toolNames: new Set(names.keys()),
      thinkingIsOpen: traits.has('open_thinking'),
      addSources: request.responseFormat === undefined,
    })
    for await (const chunk of chunks)
      for (const delta of answer.read(chunk))
        yield delta.type === 'call' && delta.name !== undefined
          ? { ...delta, name: names.get(delta.name) ?? delta.name }
          : delta
    yield* answer.end({ sawEnd: guard.sawEnd })
    if (!answer.finished && !guard.sawEnd) throw brokenOff()
    const metadata = metadataOf(origin, answer.members)
    if (metadata !== undefined) yield { type: 'provider', metadata }
  }
}

/** The names of tools by those under which the server was offered them. */
function ownNames({ tools }: Pick<ChatRequest, 'tools'>, traits: ReadonlySet<Trait>): Map<string, string> {
  return new Map(tools.map(({ name }) => [toolName(name, traits), name]))
}

type ModelRequest = Omit<ChatRequest, 'account' | 'signal'>

/**
 * The request in the form that the server takes. A member that the caller set and that changes the answer is sent in any
 * case: the server judges its value.
 */
function bodyFor(request: ModelRequest, traits: ReadonlySet<Trait>, origin: string): RequestBody {
  const whole = wholeBody(request, traits, origin)
  const left = optionalMembers.filter((name) => traits.has(`without ${name}`) && !isDemanded(name, request, whole))
  return left.reduce((body, name) => withoutMember(name, body), whole)
}

function wholeBody(request: ModelRequest, traits: ReadonlySet<Trait>, origin: string): RequestBody {
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
export function isDemanded(
  name: OptionalMember,
  { setByCaller = [] }: Pick<ModelRequest, 'setByCaller'>,
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
  const instruction = `Answer with JSON only${schema === undefined ? '.' : `, which fits this JSON Schema: ${schema}`}`
  const [first, ...others] = messages
  if (first?.role === 'system' && typeof first.content === 'string')
    return { ...body, messages: [{ ...first, content: `${first.content}\n\n${instruction}` }, ...others] }
  return { ...body, messages: [{ role: 'system', content: instruction }, ...messages] }
}
