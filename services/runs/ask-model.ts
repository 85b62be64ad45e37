import type { AssistantSettings } from '../../domain/assistant-config.ts'
import { AppError } from '../../domain/errors.ts'
import { type AIMessage, type Message, foldMessages } from '../../domain/messages.ts'
import { parseOwnJson } from '../../domain/own-json.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord, SamplingParameters } from '../../domain/records/run.ts'
import type { ResponseFormat } from '../../domain/response-format.ts'
import type { RunEntry } from '../../domain/run-events.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { tokenLimits } from '../../domain/token-limits.ts'
import type { Conversation } from '../threads/conversations.ts'
import type { Tool } from '../tools/tool.ts'
import type { Answer } from './answer.ts'
import type { ChatRequest } from './chat-model.ts'
import type { StepDeps } from './step-deps.ts'
import { fitConversation } from './fit.ts'
import { promptOf } from './prompt.ts'
import type { RunWriter } from './run-writer.ts'

interface Question {
  run: RunRecord
  step: number
  /** What this step adds to the conversation; it may not be in the log yet. */
  added: Message[]
  assistant: AssistantRecord
  tools: Promise<Tool[]>
  config: AssistantSettings
  answer: Answer
  writer: RunWriter
  signal: AbortSignal
  /** The thread's record as this process knows it. */
  thread: ThreadRecord | undefined
  /** Receives what the model is shown, before it is cut to the window. */
  onConversation(conversation: Conversation): void
}

/**
 * Text has four to five bytes per token, code and tables have more. At most this many bytes of a conversation are
 * read for each token of the window.
 */
const bytesOfToken = 8

/**
 * Sends the conversation to the model and publishes its answer as it arrives. Throws `ModelFailure`, or the reason
 * for which `signal` was aborted.
 */
export async function askModel(deps: StepDeps, question: Question): Promise<AIMessage> {
  const request = await requestFor(deps, question)
  const { model, temperature, maxTokens } = request
  // The record is this attempt's own copy; both are stored with the answer. A fallback that answers replaces the model.
  question.run.model = model
  const facts = { model, temperature, maxTokens, step: question.step }
  return deps.tracing.chat(
    question.run,
    facts,
    () => streamAnswer(deps, question, request),
    ({ data }) => ({
      model: question.run.model ?? model,
      usage: data.usage,
      finishReason: data.tool_calls?.length ? 'tool_calls' : 'stop',
    }),
  )
}

async function streamAnswer(
  deps: StepDeps,
  { run, answer, writer, signal }: Question,
  request: ChatRequest,
): Promise<AIMessage> {
  let begun = false
  try {
    for await (const delta of deps.model.stream(request)) {
      if (delta.type === 'model') {
        run.model = delta.model
        continue
      }
      // `begin` clears the message for readers, so it is sent with the first text: an attempt that fails at once must not erase the text of an earlier attempt.
      // And together with it: what is pushed first goes out alone.
      const begin: RunEntry[] = begun ? [] : [{ type: 'begin', id: answer.id }]
      begun = true
      run.first_token_ms ??= Math.max(0, Date.now() - run.created_at.getTime())
      writer.push(...begin, ...answer.add(delta))
    }
  } finally {
    await writer.drain()
  }
  signal.throwIfAborted()
  return answer.message()
}

async function requestFor(deps: StepDeps, question: Question): Promise<ChatRequest> {
  const { run, step, added, assistant, config, signal, thread } = question
  const account = deps.accountOf(assistant)
  if (account === undefined) throw new AppError('unavailable', 'No model is configured.')
  const model = config.model ?? deps.defaultModel
  const systemMessages = [config.systemMessage, run.overrides.instructions ?? '']
  const { response_format_json: formatJson } = run.overrides
  const { questionTokens: budgetTokens } = tokenLimits(deps.contextWindowOf(model), run.overrides.max_tokens)
  const [tools, before] = await Promise.all([
    question.tools,
    deps.conversations.read(run.thread_id, Math.max(budgetTokens, 1) * bytesOfToken, {
      thread,
      runId: step === 0 ? undefined : run._id,
    }),
  ])
  const shownTools = tools.map(({ name, description, parameters }) => ({ name, description, parameters }))
  const conversation = foldMessages(before.messages, added)
  question.onConversation({ ...before, messages: conversation })
  const fitting = await fitConversation(conversation, {
    budgetTokens,
    fixed: [...systemMessages, JSON.stringify(shownTools), formatJson ?? ''],
    count: (texts, limit) => deps.countTokens(texts, limit, { userId: run.user_id, signal }),
  })
  return {
    account,
    model,
    messages: promptOf(fitting, systemMessages),
    tools: shownTools,
    temperature: run.overrides.temperature ?? config.temperature,
    maxTokens: run.overrides.max_tokens,
    sampling: samplingOf(run.overrides),
    responseFormat: formatJson === undefined ? undefined : parseOwnJson<ResponseFormat>(formatJson),
    signal,
  }
}

function samplingOf({
  top_p,
  seed,
  frequency_penalty,
  presence_penalty,
  stop,
}: RunRecord['overrides']): SamplingParameters {
  return {
    ...(top_p === undefined ? {} : { top_p }),
    ...(seed === undefined ? {} : { seed }),
    ...(frequency_penalty === undefined ? {} : { frequency_penalty }),
    ...(presence_penalty === undefined ? {} : { presence_penalty }),
    ...(stop === undefined ? {} : { stop }),
  }
}
