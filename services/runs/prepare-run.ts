import { type ClientFunction, type ToolChoice, clientFunctionsText } from '../../domain/client-tools.ts'
import { invalidInput } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/free-form.ts'
import { checkMessageSize, maxMessageBytes } from '../../domain/message-size.ts'
import { type Message, type MessageInput, normaliseMessage } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ClientCallMode, MultitaskStrategy, RunOverrides } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { NewRun } from './start-run.ts'

export interface RunRequest {
  thread_id?: string
  assistant_id?: string
  input: MessageInput[] | { messages: MessageInput[] }
  config?: { configurable?: { assistant_id?: string; thread_id?: string } }
  multitask_strategy?: MultitaskStrategy
  tools?: ClientFunction[]
  tool_choice?: ToolChoice
  parallel_tool_calls?: boolean
  client_calls?: ClientCallMode
  client_calls_expire_seconds?: number
}

export interface PrepareRunDeps {
  threads: { readOwn(userId: string, threadId: string): Promise<ThreadRecord> }
  assistants: { readOwn(userId: string, assistantId: string): Promise<AssistantRecord> }
}

/**
 * Checks the run that a user requests, on the user's own thread and assistant. The ids may be at the top level or
 * in `configurable`; if they disagree, the request is refused. Without an assistant, the thread's own is used.
 */
export function createPrepareRun({ threads, assistants }: PrepareRunDeps) {
  return async (userId: string, request: RunRequest): Promise<NewRun> => {
    const threadId = agreedId(request, 'thread_id')
    if (threadId === undefined) throw invalidInput(['body', 'thread_id'], 'is required', 'missing')
    const named = agreedId(request, 'assistant_id')
    const input = inputMessages(request.input)
    const readingNamed = named === undefined ? undefined : assistants.readOwn(userId, named)
    // Problems of the thread are reported first; then nothing awaits this read, and its failure is no error.
    readingNamed?.catch(() => undefined)
    const thread = await threads.readOwn(userId, threadId)
    const assistantId = named ?? thread.assistant_id
    if (assistantId === undefined)
      throw invalidInput(['body', 'assistant_id'], 'is required: the thread has none of its own', 'missing')
    const assistant = await (readingNamed ?? assistants.readOwn(userId, assistantId))
    const overrides = overridesOf(request)
    return { thread, assistant, input, overrides, strategy: request.multitask_strategy ?? 'enqueue' }
  }
}

function overridesOf(request: RunRequest): RunOverrides {
  const { tools = [], tool_choice: choice, parallel_tool_calls: parallel, client_calls: mode } = request
  const { client_calls_expire_seconds: seconds } = request
  return {
    ...(tools.length === 0 ? {} : { tools_json: clientFunctionsText(tools, ['body', 'tools']) }),
    ...(choice === undefined ? {} : { tool_choice_json: JSON.stringify(choice) }),
    ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
    ...(mode === undefined ? {} : { client_calls: mode }),
    ...(seconds === undefined ? {} : { client_calls_expire_seconds: seconds }),
  }
}

/**
 * The input messages of a run, in their stored form and checked against the limits of messages and free-form
 * members.
 */
export function inputMessages(
  input: RunRequest['input'],
  { maxBytes = maxMessageBytes.user, loc = locOf(input) }: { maxBytes?: number; loc?: string[] } = {},
): Message[] {
  const messages = (Array.isArray(input) ? input : input.messages).map(normaliseMessage)
  if (messages.length === 0) throw invalidInput(loc, 'must hold at least one message')
  checkFreeForm(loc, messages)
  for (const [index, message] of messages.entries()) checkMessageSize(message, maxBytes, [...loc, index])
  return messages
}

/** The member of a request that contains the messages. */
export function locOf(input: RunRequest['input']): string[] {
  return Array.isArray(input) ? ['body', 'input'] : ['body', 'input', 'messages']
}

/** An id of the request, from the top level or from `configurable`. Throws `invalid_input` if they disagree. */
export function agreedId(
  request: Pick<RunRequest, 'thread_id' | 'assistant_id' | 'config'>,
  member: 'thread_id' | 'assistant_id',
): string | undefined {
  const top = request[member]
  const inner = request.config?.configurable?.[member]
  if (top !== undefined && inner !== undefined && top !== inner) {
    throw invalidInput(['body', 'config', 'configurable', member], `disagrees with ${member} at the top level`)
  }
  return top ?? inner
}
