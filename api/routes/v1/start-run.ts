import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ToolType, toolTypes } from '../../../domain/acting.ts'
import { type ClientFunction, type RunToolChoice, clientFunctionsText } from '../../../domain/client-tools.ts'
import { invalidInput } from '../../../domain/errors.ts'
import { checkFreeForm } from '../../../domain/foreign-json.ts'
import { maxCodeFiles } from '../../../domain/limits.ts'
import type { RunOverrides, RunRecord } from '../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import { type RunView, toMessage } from '../../../domain/run-events.ts'
import { type CodeOverride, searchOf } from '../../../domain/run-overrides.ts'
import { type Caller, personAmong } from '../../../services/owner.ts'
import type { FollowedRun } from '../../../services/runs/index.ts'
import { type AssistantTool, requireCode } from '../../../services/v1/assistant-members.ts'
import type { OwnStore } from '../../../services/v1/assistants.ts'
import type { V1MessageInput } from '../../../services/v1/receive-messages.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { answerIsFollowed, followOnce } from '../../plugins/idempotency.ts'
import { logRun } from '../../plugins/logging.ts'
import type { OpenStreams } from '../../sse/event-stream.ts'
import { overridesOf } from '../public/model-parameters.ts'
import { streamThreadRun } from '../public/stream-thread-run.ts'
import { messageInputsOf } from './message-input.ts'
import { toV1Thread, withWritten } from './message-objects.ts'
import { type AssistantOfRun, toV1Run } from './run-objects.ts'
import type { V1Run, V1RunCreateRequest } from './run-schemas.ts'
import { includesResults, toV1Step } from './step-objects.ts'
import type { V1Deps } from './v1-route.ts'

export type V1RunDeps = Pick<V1Deps, 'v1'> & { openStreams: OpenStreams }

/** Starts runs on `/v1` and streams them. */
export function createV1RunStarts({ v1: { runs, threads, assistants, canExecute }, openStreams }: V1RunDeps) {
  /** Sends the events of a run, up to its end or to the calls for which it waits. */
  function stream(
    request: FastifyRequest,
    reply: FastifyReply,
    followed: FollowedRun,
    assistant: AssistantOfRun,
    more: { newThread?: object; resumedFrom?: RunView } = {},
  ): FastifyReply {
    const messages = () => [...followed.feed.view.messages.values()].map(toMessage)
    return streamThreadRun(reply, followed, {
      ...more,
      openStreams,
      isWhole: true,
      stepShapeOf: (step) => toV1Step(step, { withResults: includesResults(request), messages }),
      writtenFiles: withWritten,
      shapeOf: (run) => toV1Run({ run, calls: [] }, assistant),
      reread: () => runs.reread(followed.run),
      async waitingShapeOf(run: RunRecord) {
        const waiting = await runs.withOwnCalls(run)
        return waiting.calls.length === 0 ? undefined : toV1Run(waiting, assistant)
      },
    })
  }

  async function start(
    request: FastifyRequest,
    reply: FastifyReply,
    {
      body,
      thread,
      created,
      stores,
      codeFiles,
    }: {
      body: V1RunCreateRequest
      thread: ThreadRecord
      /** Of a thread that is stored with its run: its first messages, and the vector store that is made for it. */
      created?: { messages: V1MessageInput[]; ownStore: OwnStore | undefined }
      /** What the run searches in place of what its assistant searches. */
      stores?: string[] | undefined
      /** What its code reads in place of what its assistant's reads. */
      codeFiles?: string[] | undefined
    },
  ): Promise<V1Run | FastifyReply> {
    const caller = callerOf(request)
    const { record, tools, shown } = await assistants.find(caller, body.assistant_id)
    const { additional_messages: added, metadata } = body
    const { messages: first, ownStore } = created ?? { messages: [], ownStore: undefined }
    const given = [...first, ...messageInputsOf(added ?? [], ['body', 'additional_messages'])]
    const received = await threads.receive(caller, given, (index) =>
      index < first.length
        ? ['body', 'thread', 'messages', index]
        : ['body', 'additional_messages', index - first.length],
    )
    await threads.prepareStores(caller, { vectorStores: stores })
    await threads.requireCodeFiles(caller, codeFiles)
    requireCode(body.tools, canExecute)
    const overrides = {
      ...v1OverridesOf(body, runs.expireSeconds),
      ...codeOf({ caller, tools: body.tools ?? tools, thread, added: received.codeFiles, codeFiles }),
    }
    const newRun = {
      assistant: record,
      userId: caller.userId,
      acting: { person: personAmong(caller, thread), origin: 'chat' as const },
      input: received.messages,
      attachments: received.attachments,
      inputLoc: ['body', 'additional_messages'],
      strategy: 'reject' as const,
      ...(metadata ? { metadataJson: checkFreeForm(['body', 'metadata'], metadata) } : {}),
    }
    const followed = await followOnce(request, {
      start: async (id) => {
        const isNew = created !== undefined
        if (!isNew) await threads.addCodeFiles(caller, thread._id, received.codeFiles, ['body', 'additional_messages'])
        const planned = await threads.plannedStores(caller, thread, { isNew, fileIds: received.fileIds, ownStore })
        const search = searchOf(planned.thread, { stores })
        const files = isNew ? withCodeFiles(planned.thread, received.codeFiles) : planned.thread
        const overridden = { ...overrides, ...search }
        return runs.start({ ...newRun, ...planned, thread: files, withThread: isNew, overrides: overridden }, id)
      },
      find: (id) => runs.get(caller, id),
      follow: runs.follow,
    })
    logRun(reply, followed.run)
    if (!body.stream) {
      followed.feed.close()
      return toV1Run({ run: followed.run, calls: [] }, shown)
    }
    await answerIsFollowed(request)
    const newThread = created ? await threads.read(caller, followed.run.thread_id) : undefined
    return stream(request, reply, followed, shown, newThread ? { newThread: toV1Thread(newThread) } : {})
  }

  return { start, stream }
}

/** What the run wants of the tool that executes code, if it has it. */
function codeOf({
  caller,
  tools,
  thread,
  added,
  codeFiles,
}: {
  caller: Caller
  tools: AssistantTool[]
  thread: ThreadRecord
  added: string[]
  codeFiles: string[] | undefined
}): Pick<RunOverrides, 'code_json'> {
  if (tools.every(({ type }) => type !== 'code_interpreter')) return {}
  const override: CodeOverride = {
    isAdded: true,
    files: [...new Set([...(codeFiles ?? []), ...added, ...(thread.code_files ?? [])])],
    // Files of the project are seen by all who use it, and the chat of a member by nobody else.
    ...(caller.holderId === undefined ? { keepsFiles: true } : {}),
    ...(codeFiles === undefined ? {} : { inPlaceOfFiles: true }),
  }
  return { code_json: JSON.stringify(override) }
}

function withCodeFiles(thread: ThreadRecord, added: string[]): ThreadRecord {
  if (added.length === 0) return thread
  return { ...thread, code_files: [...new Set([...(thread.code_files ?? []), ...added])].slice(0, maxCodeFiles) }
}

type RunMembers = Omit<V1RunCreateRequest, 'additional_messages' | 'assistant_id' | 'metadata'>

/** What a request changes for its run. Throws `invalid_input` for tools that this service does not have. */
function v1OverridesOf(body: RunMembers, expireSeconds: number): RunOverrides {
  const { instructions, additional_instructions: added, model, reasoning_effort: effort } = body
  const { max_prompt_tokens: prompt, max_completion_tokens: completion, truncation_strategy: truncation } = body
  const { max_tokens: _, ...parameters } = overridesOf(body)
  return {
    ...parameters,
    ...(typeof instructions === 'string' ? { system_message: instructions } : {}),
    ...(typeof added === 'string' && added !== '' ? { instructions: added } : {}),
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof effort === 'string' ? { reasoning_effort: effort } : {}),
    ...(typeof prompt === 'number' ? { max_prompt_tokens: prompt } : {}),
    ...(typeof completion === 'number' ? { max_completion_tokens: completion } : {}),
    ...(truncation?.type === 'last_messages' ? { last_messages: lastMessagesOf(truncation.last_messages) } : {}),
    ...(Array.isArray(body.tools) ? toolsOf(body.tools) : {}),
    ...(body.tool_choice === undefined || body.tool_choice === null
      ? {}
      : { tool_choice_json: JSON.stringify(choiceOf(body.tool_choice)) }),
    ...(body.parallel_tool_calls === undefined ? {} : { parallel_tool_calls: body.parallel_tool_calls }),
    client_calls: 'wait',
    client_calls_expire_seconds: expireSeconds,
  }
}

function lastMessagesOf(count: number | null | undefined): number {
  if (typeof count !== 'number')
    throw invalidInput(['body', 'truncation_strategy', 'last_messages'], 'is required of this type', 'missing')
  return count
}

/** Tools of the assistant that this API does not know are used as before. */
const otherTypes: ToolType[] = toolTypes.filter((type) => !['client', 'retrieval', 'code'].includes(type))

/** The tools of the run in place of those of the assistant. */
function toolsOf(tools: NonNullable<RunMembers['tools']>): Pick<RunOverrides, 'server_tools' | 'tools_json'> {
  const functions: ClientFunction[] = []
  let searches = false
  let executes = false
  for (const [index, { type, function: called, file_search: search }] of tools.entries()) {
    const loc = ['body', 'tools', index]
    if (type === 'code_interpreter') executes = true
    if (type === 'function' && called === undefined) throw invalidInput([...loc, 'function'], 'is required', 'missing')
    if (called !== undefined) functions.push(called)
    if (type === 'file_search') searches = true
    if (search !== undefined && Object.keys(search).length > 0)
      throw invalidInput([...loc, 'file_search'], 'is a setting of the assistant, not of a run', 'unsupported')
  }
  return {
    server_tools: [
      ...otherTypes,
      ...(searches ? (['retrieval'] as const) : []),
      ...(executes ? (['code'] as const) : []),
    ],
    ...(functions.length > 0 ? { tools_json: clientFunctionsText(functions, ['body', 'tools']) } : {}),
  }
}

function choiceOf(choice: NonNullable<RunMembers['tool_choice']>): RunToolChoice {
  if (typeof choice === 'string') return choice
  if (choice.type === 'code_interpreter') return { type: 'code' }
  if (choice.type === 'file_search') return { type: 'retrieval' }
  if (choice.function === undefined) throw invalidInput(['body', 'tool_choice', 'function'], 'is required', 'missing')
  return { type: 'function', function: choice.function }
}
