import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { maxClientFunctions } from '../../../domain/client-tools.ts'
import type { NativeKind } from '../../../domain/model-providers.ts'
import type { ChatRequest } from '../../../services/runs/chat-model.ts'
import { repairedSchema, shortened } from '../tool-schema.ts'
import { cacheMarkFor } from './cache-marks.ts'
import { nameFor, nativePrompt } from './native-prompt.ts'

export interface RequestForm {
  kind: NativeKind
  origin: string
  /** What the provider sent with its earlier answers goes back to it. */
  withMetadata: boolean
  /** The model is told how hard to think. */
  withEffort: boolean
  /** A summary of the thinking is asked for. */
  withSummary: boolean
}

/** Those that the package lets pass. Which one is used changes no answer. */
const tiers: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'priority'])

type ModelRequest = Omit<ChatRequest, 'account'>

/** The request as the provider packages take it. */
export function callOptions(request: ModelRequest, form: RequestForm): LanguageModelV4CallOptions {
  const { sampling, tools, toolChoice, responseFormat, signal } = request
  const { kind } = form
  const mark = cacheMarkFor(kind, request.model)
  const offered = allowedTools(tools, toolChoice).map((tool) => toolFor(tool, kind))
  // Tools come before the instructions: their end is a beginning of its own.
  const marked = offered.map((tool, index) =>
    kind === 'anthropic' && mark !== undefined && index === offered.length - 1
      ? { ...tool, providerOptions: mark }
      : tool,
  )
  const budget = form.withEffort ? thinkingBudget(request, kind) : undefined
  return {
    prompt: nativePrompt(request.messages, { ...form, cacheMark: mark }),
    maxOutputTokens: request.maxTokens === undefined ? undefined : request.maxTokens - (budget ?? 0),
    temperature: request.temperature,
    topP: sampling.top_p,
    presencePenalty: sampling.presence_penalty,
    frequencyPenalty: sampling.frequency_penalty,
    seed: sampling.seed,
    stopSequences: sampling.stop,
    reasoning: form.withEffort && budget === undefined ? sampling.reasoning_effort : undefined,
    responseFormat: formatOf(responseFormat),
    ...(marked.length === 0 ? {} : { tools: marked, toolChoice: choiceOf(toolChoice, kind) }),
    providerOptions: providerOptions(request, form, budget),
    abortSignal: signal,
  }
}

function toolFor(
  { name, description, parameters, strict }: ChatRequest['tools'][number],
  kind: NativeKind,
): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name: nameFor(name, kind),
    ...(description === '' ? {} : { description: shortened(description) }),
    inputSchema: repairedSchema(parameters, { isPlain: kind === 'google' }),
    ...(strict === undefined || strict === null ? {} : { strict }),
  }
}

/** A choice among some of the tools: the others are not offered. */
function allowedTools(tools: ChatRequest['tools'], choice: ChatRequest['toolChoice']): ChatRequest['tools'] {
  const sent = tools.slice(0, maxClientFunctions)
  if (typeof choice !== 'object' || choice.type !== 'allowed_tools') return sent
  const allowed = new Set(choice.allowed_tools.tools.map((tool) => tool.function.name))
  return sent.filter(({ name }) => allowed.has(name))
}

function choiceOf(choice: ChatRequest['toolChoice'], kind: NativeKind): LanguageModelV4ToolChoice | undefined {
  if (choice === undefined) return undefined
  if (typeof choice !== 'string' && choice.type === 'allowed_tools') return { type: choice.allowed_tools.mode }
  if (typeof choice !== 'string') return { type: 'tool', toolName: nameFor(choice.function.name, kind) }
  return { type: choice }
}

function formatOf(format: ChatRequest['responseFormat']): LanguageModelV4CallOptions['responseFormat'] {
  if (format?.type === 'json_object') return { type: 'json' }
  if (format?.json_schema === undefined) return undefined
  const { name, description, schema } = format.json_schema
  return { type: 'json', name, description, schema }
}

function providerOptions(
  request: ModelRequest,
  { kind, withSummary }: RequestForm,
  budget: number | undefined,
): SharedV4ProviderOptions {
  const thinking = budget ? { type: 'enabled', budgetTokens: budget } : undefined
  const { sampling, parallelToolCalls, responseFormat } = request
  const strict = responseFormat?.json_schema?.strict
  switch (kind) {
    case 'anthropic':
      return {
        anthropic: {
          thinking,
          disableParallelToolUse: parallelToolCalls === false && request.tools.length > 0 ? true : undefined,
        },
      }
    case 'google':
      // Models that do not think refuse it.
      return /gemini-(?:2\.5|[3-9])/.test(request.model)
        ? { google: { thinkingConfig: { includeThoughts: true } } }
        : {}
    case 'openai-responses':
    case 'azure':
      return {
        openai: {
          store: false,
          ...(withSummary ? { reasoningSummary: 'auto' } : {}),
          parallelToolCalls,
          strictJsonSchema: strict,
          user: sampling.user,
          safetyIdentifier: sampling.safety_identifier,
          promptCacheKey: sampling.prompt_cache_key,
          serviceTier: tiers.has(sampling.service_tier ?? '') ? sampling.service_tier : undefined,
          textVerbosity: sampling.verbosity,
        },
      }
    case 'xai':
      return {
        xai: {
          store: false,
          parallelToolCalls,
          user: sampling.user,
          promptCacheKey: sampling.prompt_cache_key,
        },
      }
    case 'mistral':
      return {
        mistral: {
          parallelToolCalls,
          strictJsonSchema: strict,
          promptCacheKey: sampling.prompt_cache_key,
        },
      }
    case 'bedrock':
      return { bedrock: { reasoningConfig: thinking } }
    case 'deepseek':
      return {}
  }
}

/** Of the tokens of an answer, how many may be thinking. */
const thinkingShares = { low: 0.2, medium: 0.5, high: 0.75, xhigh: 0.85 } as const

/** Less is refused. */
const leastBudget = 1024

/**
 * Claude up to 4.5 is told how many tokens it may think, which its provider package adds to the limit of the answer. Here
 * they are a part of it, because a limit counts thinking. Undefined for models that are told in words, and without limit.
 */
function thinkingBudget(
  { model, maxTokens, sampling }: Pick<ChatRequest, 'model' | 'maxTokens' | 'sampling'>,
  kind: NativeKind,
): number | undefined {
  const effort = sampling.reasoning_effort
  const takesThinkingBudget = /claude-(?:3-7-|(?:sonnet|opus|haiku)-4-(?:20\d{6}|[0-5](?!\d)))/.test(model)
  if ((kind !== 'anthropic' && kind !== 'bedrock') || !takesThinkingBudget || maxTokens === undefined) return undefined
  if (effort === undefined || effort === 'none' || effort === 'minimal') return undefined
  const budget = Math.max(leastBudget, Math.floor(maxTokens * thinkingShares[effort]))
  // Too few tokens for a thought and an answer: it only answers.
  return budget >= maxTokens ? 0 : budget
}
