import type { Acting } from '../../domain/acting.ts'
import { type ClientFunction, type ToolChoice, clientFunctionsText } from '../../domain/client-tools.ts'
import { type AttachmentLimits, attachmentLimits } from '../../domain/content-parts.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/foreign-json.ts'
import { checkMessageSize, maxMessageBytes } from '../../domain/message-size.ts'
import type { Message, RunMessageInput } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type {
  ParentRun,
  ClientCallMode,
  CompletionFacts,
  MultitaskStrategy,
  RunOverrides,
} from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { searchOf } from '../../domain/run-overrides.ts'
import type { Downloads } from '../attachments/downloads.ts'
import type { PartSources } from '../attachments/read-part.ts'
import {
  type LocOf,
  type GivenMessage,
  type NewAttachment,
  type Received,
  receiveContent,
} from '../attachments/receive-content.ts'
import { type Caller, type Owner, ownerOf, personAmong } from '../owner.ts'

export interface NewRun {
  thread: ThreadRecord
  /** The thread is stored together with the run, within its owner's quota if it counts against it. */
  withThread?: boolean
  assistant: AssistantRecord
  input: Message[]
  /** The member of the request with the input; default: `input`. */
  inputLoc?: string[]
  /** The bytes of the images, sounds and files in the input; they are stored before the run. */
  attachments?: NewAttachment[]
  /**
   * Makes what the run needs beside its thread, when the run is admitted and before it is stored. The result takes it back,
   * for a run that is refused then.
   */
  makeNeeds?: () => Promise<() => Promise<void>>
  overrides?: RunOverrides
  strategy: MultitaskStrategy
  public?: boolean
  /** Who starts it, if the thread can be somebody else's. */
  userId?: string
  acting: Acting
  /** The schedule that starts it. */
  scheduleId?: string
  /** The call of another assistant that it answers. */
  askedBy?: ParentRun
  /** Budgets of the asking run: they count this one, too. */
  budgets?: string[]
  completion?: CompletionFacts
  /** Metadata that a caller of the compat family stores with the run, as JSON text. */
  metadataJson?: string
  /** `ResponseFacts` as JSON text. */
  responseJson?: string
}

export interface RunRequest {
  thread_id?: string
  assistant_id?: string
  input: RunMessageInput[] | { messages: RunMessageInput[] }
  config?: { configurable?: { assistant_id?: string; thread_id?: string } }
  multitask_strategy?: MultitaskStrategy
  tools?: ClientFunction[]
  tool_choice?: ToolChoice
  parallel_tool_calls?: boolean
  reasoning_effort?: NonNullable<RunOverrides['reasoning_effort']>
  instructions?: string
  temperature?: number
  file_ids?: string[]
  client_calls?: ClientCallMode
  client_calls_expire_seconds?: number
  model?: string
}

export interface PrepareRunDeps {
  threads: { requireContinuable(caller: Caller, threadId: string): Promise<ThreadRecord> }
  assistants: { readOwn(owner: Owner, assistantId: string): Promise<AssistantRecord> }
  downloads: Downloads
}

/**
 * Checks the run that a user requests, on a thread that he may continue, with an assistant of his or of the project
 * that is shared with him. The ids may be at the top level or in `configurable`; if they disagree, the request is
 * refused. Without an assistant, the thread's own is used. A `draft` is a thread that is stored together with the run.
 */
export function createPrepareRun({ threads, assistants, downloads }: PrepareRunDeps) {
  return async (
    caller: Caller,
    request: RunRequest,
    origin: Acting['origin'],
    { draft, person }: { draft?: ThreadRecord | undefined; person?: Acting['person'] } = {},
  ): Promise<NewRun> => {
    const { userId } = caller
    const owner = ownerOf(caller)
    const threadId = agreedId(request, 'thread_id')
    if (threadId === undefined) throw invalidInput(['body', 'thread_id'], 'is required', 'missing')
    const named = agreedId(request, 'assistant_id')
    const readingNamed = named === undefined ? undefined : assistants.readOwn(owner, named)
    // If reading the thread fails, this read is never awaited: its failure must not count as unhandled.
    readingNamed?.catch(() => undefined)
    const thread = draft ?? (await threads.requireContinuable(caller, threadId))
    if (caller.holderId !== undefined && thread.project_id !== caller.projectId)
      throw new AppError('not_found', 'There is no such thread.')
    const assistantId = named ?? thread.assistant_id
    if (assistantId === undefined)
      throw invalidInput(['body', 'assistant_id'], 'is required: the thread has none of its own', 'missing')
    const assistant = await (readingNamed ?? assistants.readOwn(owner, assistantId))
    const received = await downloads.within(userId, (download) => inputMessages({ download }, request.input))
    const overrides = { ...overridesOf(request), ...searchOf(thread, { files: request.file_ids }) }
    const strategy = request.multitask_strategy ?? 'enqueue'
    const acting = { person: personAmong(caller, thread, person), origin }
    return { thread, withThread: draft !== undefined, assistant, userId, acting, ...received, overrides, strategy }
  }
}

function overridesOf(request: RunRequest): RunOverrides {
  const { tools = [], tool_choice: choice, parallel_tool_calls: parallel, client_calls: mode } = request
  const { reasoning_effort: effort, instructions = '', temperature } = request
  const { client_calls_expire_seconds: seconds, model } = request
  return {
    ...(tools.length === 0 ? {} : { tools_json: clientFunctionsText(tools, ['body', 'tools']) }),
    ...(choice === undefined ? {} : { tool_choice_json: JSON.stringify(choice) }),
    ...(parallel === undefined ? {} : { parallel_tool_calls: parallel }),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(instructions.trim() === '' ? {} : { instructions }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(mode === undefined ? {} : { client_calls: mode }),
    ...(seconds === undefined ? {} : { client_calls_expire_seconds: seconds }),
    ...(model === undefined ? {} : { model }),
  }
}

/**
 * The input messages of a run, in their stored form and checked against the limits of messages and free-form
 * members, and the bytes of their images, sounds and files.
 */
export async function inputMessages(
  sources: PartSources,
  input: RunRequest['input'] | GivenMessage[],
  {
    maxBytes = maxMessageBytes.user,
    limits = attachmentLimits.user,
    loc = locOf(input),
    locOf: placeOf = (index) => [...loc, index],
  }: { maxBytes?: number; limits?: AttachmentLimits; loc?: string[]; locOf?: LocOf } = {},
): Promise<Received> {
  const inputs = Array.isArray(input) ? input : input.messages
  if (inputs.length === 0) throw invalidInput(loc, 'must hold at least one message')
  const received = await receiveContent(sources, inputs, { limits, loc, locOf: placeOf })
  checkFreeForm(loc, received.input)
  for (const [index, message] of received.input.entries()) checkMessageSize(message, maxBytes, placeOf(index))
  return received
}

/** The member of a request that contains the messages. */
export function locOf(input: RunRequest['input'] | GivenMessage[]): string[] {
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
