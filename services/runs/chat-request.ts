import type { AssistantSettings } from '../../domain/assistant-config.ts'
import { type ModelToolChoice, type RunToolChoice, type ToolReference, toolName } from '../../domain/client-tools.ts'
import { type CallResults, foldMessages, resultsOfCalls } from '../../domain/conversation.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { parseOwnJson } from '../../domain/json.ts'
import type { Message, StoredMessage } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunOverrides, RunRecord, SamplingParameters } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { ResponseFormat } from '../../domain/response-format.ts'
import { promptPartsOf, readAttachments, shownByTool } from '../attachments/prompt-parts.ts'
import { type TokensLeft, RunLimitError, tokenLimits } from '../budgets/usage.ts'
import { type Conversation, earlierVersion } from '../threads/conversations.ts'
import type { Tool } from '../tool.ts'
import type { ChatRequest, PromptMessage, ProviderMetadata } from './chat-model.ts'
import { bytesOfToken, findQuestion, fitConversation, newestMessages, tooLong } from './fit-conversation.ts'
import type { StepDeps } from './step-deps.ts'

interface Question {
  run: RunRecord
  step: number
  /** What this step adds to the conversation; it may not be in the log yet. */
  added: Message[]
  assistant: AssistantRecord
  config: AssistantSettings
  tools: Promise<Tool[]>
  /** The thread's record as this process knows it. */
  thread: ThreadRecord | undefined
  tokensLeft: TokensLeft
  signal: AbortSignal
}

/**
 * What a model is sent: instructions, the conversation as far as it fits into the model's window, and tools. Also returns
 * the `conversation` before it is cut.
 */
export async function chatRequestFor(
  deps: StepDeps,
  { run, step, added, assistant, config, tools, thread, tokensLeft, signal }: Question,
): Promise<{ request: ChatRequest; conversation: Conversation }> {
  const account = deps.accountOf(assistant)
  if (account === undefined) throw new AppError('unavailable', 'No model is configured.')
  const model = run.overrides.model ?? config.model ?? deps.models.current().defaultModel
  const { system_message: systemMessage = config.systemMessage, instructions = '' } = run.overrides
  const { logit_bias_json: biasJson, last_messages: lastMessages } = run.overrides
  const { response_format_json: formatJson = config.responseFormat && JSON.stringify(config.responseFormat) } =
    run.overrides
  const maxTokens = smaller(run.overrides.max_tokens, tokensLeft.completion)
  const { questionTokens } = tokenLimits(deps.contextWindowOf(model), maxTokens)
  const budgetTokens = Math.min(questionTokens, tokensLeft.prompt ?? Infinity)
  const maxBytes = Math.max(budgetTokens, 1) * bytesOfToken
  const needsQuestion = findQuestion(added) === undefined
  const [all, before] = await Promise.all([
    tools,
    deps.conversations.read(run.thread_id, maxBytes, {
      thread,
      runId: step === 0 ? undefined : run._id,
      needsQuestion,
    }),
  ])
  const { choice: toolChoice, tools: offered } = offerTools(run.overrides, all, step)
  const toTools = offered.map(({ name, description, parameters, strict }) => ({
    name,
    description,
    parameters,
    ...(strict === undefined ? {} : { strict }),
  }))
  const last = earlierVersion(before.messages, added)
  const continued =
    last === undefined ? before : await deps.conversations.read(run.thread_id, maxBytes, { last, needsQuestion })
  const conversation = { ...continued, messages: foldMessages(continued.messages, added) }
  const systemMessages = [systemMessage, instructions, await recalled(all, conversation.messages, signal)]
  const mustFit = run.overrides.truncation === 'disabled'
  if (mustFit && conversation.reach !== Infinity) throw tooLong()
  const { messages: fitting, fits } = await fitConversation(newestMessages(conversation.messages, lastMessages), {
    budgetTokens,
    mustFit,
    fixed: [...systemMessages, JSON.stringify(toTools), formatJson ?? ''],
    count: (texts, limit) => deps.countTokens(texts, limit, { userId: run.user_id, signal }),
  })
  const { max_prompt_tokens: promptLimit } = run.overrides
  if (!fits && promptLimit !== undefined && budgetTokens < questionTokens)
    throw new RunLimitError('max_prompt_tokens', promptLimit)
  const request = {
    account,
    model,
    messages: promptOf(fitting, systemMessages, {
      attachments: await readAttachments(deps.collections, run.thread_id, fitting),
      openMetadata: deps.providerMetadata.open,
    }),
    tools: toTools,
    temperature: run.overrides.temperature ?? config.temperature,
    maxTokens,
    toolChoice,
    parallelToolCalls: run.overrides.parallel_tool_calls,
    logitBias: biasJson === undefined ? undefined : parseOwnJson<Record<string, number>>(biasJson),
    sampling: samplingOf({ ...samplingOfAssistant(config), ...run.overrides }),
    setByCaller: setByCaller(run.overrides),
    responseFormat: formatJson === undefined ? undefined : parseOwnJson<ResponseFormat>(formatJson),
    signal,
  }
  return { request, conversation }
}

/** What the tools know about the newest question, before the model calls them. */
async function recalled(tools: Tool[], messages: Message[], signal: AbortSignal): Promise<string> {
  const tool = tools.find(({ recall }) => recall !== undefined)
  return (await tool?.recall?.(findQuestion(messages)?.data.content ?? '', signal)) ?? ''
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/** The members of a request, by their names, that the caller of a run set. */
function setByCaller(overrides: RunOverrides): string[] {
  const renamed: Record<string, string> = { logit_bias_json: 'logit_bias', response_format_json: 'response_format' }
  return Object.keys(overrides).flatMap((name) => (name === 'tools_json' ? ['strict'] : [renamed[name] ?? name]))
}

const samplingMembers = [
  'top_p',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'stop',
  'reasoning_effort',
  'service_tier',
  'logprobs',
  'top_logprobs',
  'verbosity',
  'user',
  'safety_identifier',
  'prompt_cache_key',
] as const satisfies (keyof SamplingParameters)[]

function samplingOfAssistant({ topP, reasoningEffort }: AssistantSettings): SamplingParameters {
  return {
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(reasoningEffort === undefined ? {} : { reasoning_effort: reasoningEffort }),
  }
}

function samplingOf(overrides: RunOverrides): SamplingParameters {
  const given = samplingMembers.filter((name) => overrides[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, overrides[name]]))
}

interface Offer {
  /** Undefined: the model chooses. */
  choice: ModelToolChoice | undefined
  tools: Tool[]
}

/**
 * The tools that the model is offered in a step, and which it must call. A tool is demanded of the first answer only: a
 * model that had to call one after each result would never answer. Throws `invalid_input` if a tool is demanded that the
 * run does not have.
 */
function offerTools({ tool_choice_json: json }: RunOverrides, tools: Tool[], step: number): Offer {
  if (json === undefined) return { choice: undefined, tools }
  const choice = parseOwnJson<RunToolChoice>(json)
  const isFirst = step === 0
  if (typeof choice === 'string') return { choice: choice !== 'required' || isFirst ? choice : undefined, tools }
  switch (choice.type) {
    case 'allowed_tools':
      return { choice: choice.allowed_tools.mode === 'auto' || isFirst ? choice : undefined, tools }
    case 'of_run': {
      const chosen = tools.filter((tool) => choice.tools.some((reference) => isMeant(tool, reference)))
      if (!isFirst || choice.mode === 'auto') return { choice: undefined, tools: chosen }
      const [only, second] = chosen
      if (only === undefined) throw notThere()
      return { choice: second === undefined ? named(only) : 'required', tools: chosen }
    }
    case 'retrieval':
    case 'code':
    case 'function': {
      if (!isFirst) return { choice: undefined, tools }
      const wanted = tools.find(({ type, name }) =>
        choice.type === 'function' ? name === choice.function.name : type === choice.type,
      )
      if (wanted === undefined) throw notThere()
      return { choice: named(wanted), tools }
    }
  }
}

function isMeant({ type, name }: Tool, reference: ToolReference): boolean {
  if ('type' in reference) return type === reference.type
  if (!('server' in reference)) return name === reference.name
  if (type !== 'mcp') return false
  return reference.name === undefined
    ? name.startsWith(`${reference.server}_`)
    : name === toolName(`${reference.server}_${reference.name}`)
}

function named({ name }: Tool): ModelToolChoice {
  return { type: 'function', function: { name } }
}

function notThere() {
  return invalidInput(['body', 'tool_choice'], 'The tool that must be called is not there.')
}

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
