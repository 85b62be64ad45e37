import type { AssistantSettings } from '../../domain/assistant-config.ts'
import { AppError } from '../../domain/errors.ts'
import type { AIMessage } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { Answer } from './answer.ts'
import type { ChatRequest } from './chat-model.ts'
import type { EngineDeps } from './deps.ts'
import { promptOf } from './prompt.ts'
import type { RunWriter } from './run-writer.ts'

interface Question {
  run: RunRecord
  assistant: AssistantRecord
  config: AssistantSettings
  answer: Answer
  writer: RunWriter
  signal: AbortSignal
}

/** Sends the conversation to the model and publishes its answer as it grows. Throws `ModelFailure`, or why `signal` was aborted. */
export async function askModel(deps: EngineDeps, question: Question): Promise<AIMessage> {
  const { answer, writer, signal } = question
  const request = await requestFor(deps, question)
  let begun = false
  try {
    for await (const delta of deps.model.stream(request)) {
      // Not before there is something to say: an attempt that fails at once leaves the words of an earlier one.
      if (!begun) writer.push({ type: 'begin', id: answer.id })
      begun = true
      writer.push(...answer.add(delta))
    }
  } finally {
    await writer.drain()
  }
  signal.throwIfAborted()
  return answer.message()
}

async function requestFor(deps: EngineDeps, { run, assistant, config, signal }: Question): Promise<ChatRequest> {
  const account = deps.accountOf(assistant)
  if (account === undefined) throw new AppError('unavailable', 'No model is configured.')
  const [tools, { messages }] = await Promise.all([deps.toolsOf(assistant, signal), deps.log.read(run.thread_id)])
  return {
    account,
    model: config.model ?? deps.defaultModel,
    messages: promptOf(deps.fit(messages, run), [config.systemMessage, run.overrides.instructions ?? '']),
    tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    temperature: run.overrides.temperature ?? config.temperature,
    maxTokens: run.overrides.max_tokens,
    signal,
  }
}
