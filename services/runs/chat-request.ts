import type { AssistantSettings } from '../../domain/assistant-config.ts'
import { AppError } from '../../domain/errors.ts'
import { type Message, asksForTools, foldMessages } from '../../domain/messages.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import { parseOwnJson } from '../../domain/own-json.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunOverrides, RunRecord, SamplingParameters } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { ResponseFormat } from '../../domain/response-format.ts'
import { tokenLimits } from '../../domain/token-limits.ts'
import { promptPartsOf, readAttachments, tokensOfAttachments } from '../attachments/prompt-parts.ts'
import { type Conversation, earlierVersion } from '../threads/conversations.ts'
import type { Tool } from '../tools/tool.ts'
import type { ChatRequest, PromptMessage } from './chat-model.ts'
import { offerTools } from './tool-choice.ts'
import type { StepDeps } from './step-deps.ts'
import type { TokensLeft } from './tokens-left.ts'

/**
 * Text has four to five bytes per token, code and tables have more. At most this many bytes of a conversation are
 * read for each token of the window.
 */
const bytesOfToken = 8
/** Tokens of a message besides its text (roles and separators), as OpenAI-compatible providers count them. */
const tokensPerMessage = 4
/** Characters that are counted at once, so that counting can stop early. */
const batchCharacters = 64 * 1024
const noResult = 'There is no result of this call.'

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
  const [all, before] = await Promise.all([
    tools,
    deps.conversations.read(run.thread_id, maxBytes, {
      thread,
      runId: step === 0 ? undefined : run._id,
    }),
  ])
  const { choice: toolChoice, tools: offered } = offerTools(run.overrides, all, step)
  const shownTools = offered.map(({ name, description, parameters, strict }) => ({
    name,
    description,
    parameters,
    ...(strict === undefined ? {} : { strict }),
  }))
  const last = earlierVersion(before.messages, added)
  const continued = last === undefined ? before : await deps.conversations.read(run.thread_id, maxBytes, { last })
  const conversation = { ...continued, messages: foldMessages(continued.messages, added) }
  const systemMessages = [systemMessage, instructions, await recalled(all, conversation.messages, signal)]
  const mustFit = run.overrides.truncation === 'disabled'
  if (mustFit && conversation.reach !== Infinity) throw tooLong()
  const fitting = await fitConversation(newestMessages(conversation.messages, lastMessages), {
    budgetTokens,
    mustFit,
    fixed: [...systemMessages, JSON.stringify(shownTools), formatJson ?? ''],
    count: (texts, limit) => deps.countTokens(texts, limit, { userId: run.user_id, signal }),
  })
  const request = {
    account,
    model,
    messages: promptOf(fitting, systemMessages, await readAttachments(deps.collections, run.thread_id, fitting)),
    tools: shownTools,
    temperature: run.overrides.temperature ?? config.temperature,
    maxTokens,
    toolChoice,
    parallelToolCalls: run.overrides.parallel_tool_calls,
    logitBias: biasJson === undefined ? undefined : parseOwnJson<Record<string, number>>(biasJson),
    sampling: samplingOf({ ...samplingOfAssistant(config), ...run.overrides }),
    responseFormat: formatJson === undefined ? undefined : parseOwnJson<ResponseFormat>(formatJson),
    signal,
  }
  return { request, conversation }
}

/** What the tools know about the newest question, before the model calls them. */
async function recalled(tools: Tool[], messages: Message[], signal: AbortSignal): Promise<string> {
  const tool = tools.find(({ recall }) => recall !== undefined)
  const asked = messages.findLast(({ type }) => type === 'HumanMessage')
  return (await tool?.recall?.(asked?.data.content ?? '', signal)) ?? ''
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/**
 * The system messages, and from the newest `count` of the others on. Results of tools, and the answers that called them,
 * do not count.
 */
export function newestMessages(messages: Message[], count: number | undefined): Message[] {
  if (count === undefined) return messages
  let left = count
  let first = messages.length
  while (first > 0 && left > 0) {
    first -= 1
    if (isCounted(messages[first])) left -= 1
  }
  return messages.filter((message, index) => index >= first || message.type === 'SystemMessage')
}

function isCounted(message: Message | undefined): boolean {
  return message?.type === 'HumanMessage' || (message?.type === 'AIMessage' && !asksForTools(message))
}

interface Window {
  /** Token budget of the conversation and `fixed` together. */
  budgetTokens: number
  /** Nothing is cut: what does not fit is refused. */
  mustFit?: boolean
  /** Texts that are always sent: instructions, tools. */
  fixed: string[]
  /** `CountTokens`, for the user of the run. */
  count(texts: string[], limit: number): Promise<number[]>
}

/**
 * Cuts a conversation to the model's window: keeps the newest messages within the budget, and every system message.
 * A message with tool calls and their results are kept or cut together. The newest message is always kept; if it is
 * too long, the model says so. Tokens are counted in one encoding for all models, so the caller leaves a margin.
 * Nothing is counted if the size in bytes is enough to decide, and nothing beyond the budget. Throws `ModelFailure` for a
 * conversation that must fit and does not.
 */
export async function fitConversation(messages: Message[], window: Window): Promise<Message[]> {
  if (certainlyFits(messages, window)) return messages
  const system = messages.filter((message) => message.type === 'SystemMessage')
  const groups = groupsOf(messages.filter((message) => message.type !== 'SystemMessage')).toReversed()
  const [newest = []] = groups
  const kept = new Set<Message>([...system, ...newest])
  const parts = [...window.fixed, ...system.map((message) => [message]), ...groups]
  let room = window.budgetTokens
  let index = 0
  for await (const tokens of tokensOf(parts, window)) {
    const part = parts[index++]
    room -= tokens + (Array.isArray(part) ? fixedTokensOf(part) : 0)
    if (room < 0 && window.mustFit) throw tooLong()
    if (room < 0) break
    if (Array.isArray(part)) for (const message of part) kept.add(message)
  }
  return messages.filter((message) => kept.has(message))
}

/** The same that a model says. */
function tooLong(): ModelFailure {
  return new ModelFailure('The conversation is too long for the model.', {
    statusCode: 400,
    type: 'context_length_exceeded',
    retryable: false,
  })
}

/** A token has at least one byte: text with fewer bytes than tokens left needs no counting. */
function certainlyFits(messages: Message[], { fixed, budgetTokens }: Window): boolean {
  let room = budgetTokens
  for (const text of fixed) room -= Buffer.byteLength(text)
  for (const message of messages) {
    if (room < 0) return false
    room -= Buffer.byteLength(textOf(message)) + fixedTokensOf([message])
  }
  return room >= 0
}

/** The tokens of messages besides their texts. */
function fixedTokensOf(messages: Message[]): number {
  return messages.reduce((sum, message) => sum + tokensPerMessage + tokensOfAttachments(message), 0)
}

type Part = string | Message[]

/** The tokens of each part, until the budget is exceeded. */
async function* tokensOf(parts: Part[], { budgetTokens, count }: Window): AsyncGenerator<number> {
  let left = budgetTokens
  for (const batch of batchesOf(parts)) {
    for (const tokens of await count(batch, left)) {
      yield tokens
      left -= tokens
    }
    if (left < 0) return
  }
}

function* batchesOf(parts: Part[]): Generator<string[]> {
  let batch: string[] = []
  let characters = 0
  for (const part of parts) {
    const text = typeof part === 'string' ? part : part.map(textOf).join('')
    batch.push(text)
    characters += text.length
    if (characters < batchCharacters) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}

/** Messages that must stay together: an answer with the results of its tool calls, or a single message. */
function groupsOf(messages: Message[]): Message[][] {
  const groups: Message[][] = []
  for (const message of messages) {
    const last = groups.at(-1)
    if (message.type === 'ToolMessage' && last) last.push(message)
    else groups.push([message])
  }
  return groups
}

function textOf(message: Message): string {
  const calls = message.type === 'AIMessage' ? (message.data.tool_calls ?? []) : []
  return calls.length === 0 ? message.data.content : `${message.data.content}${JSON.stringify(calls)}`
}

/**
 * The conversation in the form that the model is sent. OpenAI-compatible servers refuse a tool call without a
 * result and a result without a call, and threads can be edited by users: a missing result is replaced by a text
 * that says so, a stray one is left out.
 */
export function promptOf(
  messages: Message[],
  systemMessages: string[],
  attachments = new Map<string, Buffer>(),
): PromptMessage[] {
  const answers = new Map(
    messages.flatMap((message) =>
      message.type === 'ToolMessage' ? [[message.data.tool_call_id, message.data.content] as const] : [],
    ),
  )
  const system = systemMessages.filter((text) => text !== '').map((content) => ({ role: 'system' as const, content }))
  return [...system, ...messages.flatMap((message) => promptParts(message, answers, attachments))]
}

function promptParts(
  message: Message,
  answers: Map<string, string>,
  attachments: Map<string, Buffer>,
): PromptMessage[] {
  switch (message.type) {
    case 'HumanMessage':
      if (message.data.deleted) return []
      return [{ role: 'user', content: promptPartsOf(message, attachments) ?? message.data.content }]
    case 'SystemMessage':
      return [{ role: 'system', content: message.data.content }]
    case 'AIMessage': {
      const { refusal = '', tool_calls: calls = [] } = message.data
      const content = message.data.content || refusal
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
