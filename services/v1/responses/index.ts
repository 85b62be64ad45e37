import type { AssistantSettings, ToolSetting } from '../../../domain/assistant-config.ts'
import type { DeletionResult } from '../../../domain/contracts/deletion.ts'
import { foldMessages, notifiedDecisions } from '../../../domain/conversation.ts'
import { AppError, invalidInput, isNotFound } from '../../../domain/errors.ts'
import { newId } from '../../../domain/ids.ts'
import { checkMessageSize, maxMessageBytes } from '../../../domain/message-size.ts'
import { type Message, type ToolCall, messagesFromJson } from '../../../domain/messages.ts'
import { type RunOverrides, type RunRecord, isOpenRun } from '../../../domain/records/run.ts'
import type { ThreadRecord } from '../../../domain/records/thread.ts'
import { type ResponseFacts, type ResponseWarning, factsOf } from '../../../domain/responses/facts.ts'
import { clientMessageId, responseId, runIdOf } from '../../../domain/responses/ids.ts'
import type { ApprovedCall, CodeOverride } from '../../../domain/run-overrides.ts'
import type { AssistantConfigs } from '../../assistants/configs.ts'
import { copyAttachments } from '../../attachments/copy-attachments.ts'
import type { NewAttachment, Received } from '../../attachments/receive-content.ts'
import type { Collections } from '../../collections.ts'
import type { EraseUnstored } from '../../deletion/erase-unstored.ts'
import type { VectorStores } from '../../knowledge/vector-stores.ts'
import type { ModelsNow } from '../../models/live-models.ts'
import type { Caller } from '../../owner.ts'
import { refusalOf } from '../../public/run-failure.ts'
import { unstoredMs } from '../../public/threads.ts'
import type { CountTokens } from '../../runs/chat-model.ts'
import type { FollowedRun, RunFeed, Runs } from '../../runs/index.ts'
import type { SecretBox } from '../../secrets.ts'
import { attachmentStore } from '../../stores/attachments.ts'
import { runStore } from '../../stores/runs.ts'
import { threadStore } from '../../stores/threads.ts'
import { threadRecordOf } from '../../threads/create-thread.ts'
import type { ScanLog } from '../../threads/log-scan.ts'
import type { Tools } from '../../tools/index.ts'
import type { AnsweringModel } from '../answering-models.ts'
import { type Containers, containerLimits } from '../containers.ts'
import type { PartSourcesDeps } from '../part-sources.ts'
import { responseStore } from '../store.ts'
import { allowedCallPrefix, createClaimCalls, settingsOfServer } from './approvals.ts'
import { inputAfterSummary, splitForSummary, summaryRequest } from './compaction.ts'
import { createContinuedThread, createReadContext } from './context.ts'
import { countInput } from './count-input.ts'
import { type AllowedCall, type InputEntry, createFindItems, summaryMessage } from './find-items.ts'
import type { RequestedServer, NewResponse, RequestedTools } from './new-response.ts'
import { type RemoveResponseDeps, createRemoveResponse } from './remove-response.ts'
import type { ResponseRun } from './response-run.ts'
import { type Thought, createSealedItems } from './sealed-items.ts'

export type { InputEntry } from './find-items.ts'
export type { RequestedServer, NewResponse, RequestedTools } from './new-response.ts'
export type { ResponseRun } from './response-run.ts'

interface ResponsesDeps extends PartSourcesDeps, RemoveResponseDeps {
  collections: Pick<Collections, 'attachments' | 'threads'> & RemoveResponseDeps['collections']
  configs: Pick<AssistantConfigs, 'settingsOf'>
  /** Finds what the request names as its model. */
  answering: (caller: Caller, name: string) => Promise<AnsweringModel>
  secretBox: Pick<SecretBox, 'seal' | 'open'>
  countTokens: CountTokens
  /** The context window of a model in tokens. */
  contextWindowOf(model: string): number
  models: ModelsNow
  vectorStores: Pick<VectorStores, 'find'>
  /** What an MCP server offers. */
  offeredBy: Tools['offeredBy']
  containers: Pick<Containers, 'use' | 'copiesOf' | 'copiesOfSession'>
  /** Whether code is executed here. */
  canExecute: boolean
  /** Whether a search service is configured. */
  canSearch(): boolean
  runs: Pick<Runs, 'startFollowed' | 'follow' | 'cancel' | 'output'>
  scanLog: ScanLog
  eraseUnstored: EraseUnstored
}

/**
 * Responses of a project. Each is a run: on the thread of its conversation, on that of the response that it continues,
 * or on a thread of its own, which begins with a copy of what came before (docs/decisions/2026-11-25-responses.md).
 * Those of another project are `not_found`.
 */
export function createResponses(deps: ResponsesDeps) {
  const responses = responseStore(deps.collections)
  const readContext = createReadContext(deps.collections, deps.scanLog)
  const findItems = createFindItems(deps)
  const continuedThread = createContinuedThread(deps.collections)
  const removeResponse = createRemoveResponse(deps)
  const sealed = createSealedItems(deps.secretBox)
  const claimCalls = createClaimCalls(deps.collections)

  async function find(caller: Caller, id: string): Promise<ResponseRun> {
    const runId = runIdOf(id)
    const run = runId === undefined ? null : await responses.find(caller, runId)
    const facts = run === null ? undefined : factsOf(run)
    if (run === null || facts === undefined) throw missing(id)
    return { run, facts }
  }

  /** One that can be read: it is to be stored, and is not being deleted. */
  async function findStored(caller: Caller, id: string): Promise<ResponseRun> {
    const found = await find(caller, id)
    if (found.facts.isUnstored || !(await threadStore(deps.collections).isPresentOfAny(found.run.thread_id)))
      throw missing(id)
    return found
  }

  /** The previous response, which has ended. */
  async function findPrevious(
    caller: Caller,
    previousId: string,
    retained?: ReadonlySet<string>,
  ): Promise<ResponseRun> {
    const looking = retained?.has(previousId) ? find(caller, previousId) : findStored(caller, previousId)
    const found = await looking.catch((error: unknown) => {
      if (!isNotFound(error)) throw error
      throw new AppError('not_found', `There is no response ${previousId}.`, {
        fields: [{ loc: ['body', 'previous_response_id'], msg: error.message, type: 'previous_response_not_found' }],
      })
    })
    if (isOpenRun(found.run))
      throw invalidInput(['body', 'previous_response_id'], `the response ${previousId} is not completed yet`, 'busy')
    return found
  }

  /** A copy of the conversation up to a response. */
  async function contextOf({ run }: ResponseRun, { mustFit }: { mustFit: boolean }): Promise<Received> {
    const { messages, isWhole } = await readContext(run)
    if (mustFit && !isWhole)
      throw refusalOf({
        status_code: 400,
        message: 'The conversation is too long for the model.',
        type: 'context_length_exceeded',
        details: '',
      })
    return copyAttachments(deps.collections, run.thread_id, messages)
  }

  /** Where a response goes on: in a thread that exists, or with a copy of what came before. */
  async function threadFor(caller: Caller, requested: NewResponse, runId: string) {
    const nothing: Received = { input: [], attachments: [] }
    if (requested.summary !== undefined)
      return { thread: undefined, earlier: { input: [ownSummary(requested.summary)], attachments: [] } }
    if (requested.previousId === undefined) return { thread: requested.conversation, earlier: nothing }
    const previous = await findPrevious(caller, requested.previousId, requested.retained)
    // One that is not to be stored is deleted with its thread.
    const canShare = requested.isStored && previous.facts.isUnstored !== true
    const thread = canShare ? await continuedThread(previous, runId) : undefined
    if (thread !== undefined) return { thread, earlier: nothing }
    return { thread, earlier: await contextOf(previous, { mustFit: requested.overrides.truncation === 'disabled' }) }
  }

  async function prepare(caller: Caller, requested: NewResponse, runId: string) {
    const { assistant, model } = await deps.answering(caller, requested.model)
    const leftOut = deps.canSearch() ? undefined : requested.tools.webSearch
    if (leftOut !== undefined) refuseDemanded(requested)
    for (const id of requested.tools.fileSearch?.vectorStores ?? []) await deps.vectorStores.find(caller, id)
    const listed = await listServers(requested.tools.servers)
    const { container, session, files: named } = await sessionOf(caller, requested.tools)
    const { thread, earlier } = await threadFor(caller, requested, runId)
    const isElsewhere = session !== undefined && session !== thread?._id
    const files = isElsewhere ? [...named, ...(await deps.containers.copiesOfSession(caller, session))] : named
    const context = earlier.input
    const found = await findItems(caller, requested.input, context)
    const given = found.input.map((message, index) => withOwnId(message, clientMessageId(runId, index)))
    const approvals = listed.flatMap((server) => server.approvals)
    for (const { call } of found.allowed) requireServer(call, requested.tools.servers)
    for (const [index, message] of given.entries())
      checkMessageSize(message, maxMessageBytes.user, ['body', 'input', index])
    const claimed = await callsToMake(caller, requested, { allowed: found.allowed, context, given })
    const settings = deps.configs.settingsOf(assistant)
    const ownFunctions = settings.tools.flatMap(({ type, name }) =>
      type === 'client' && name !== undefined ? [name] : [],
    )
    const facts: ResponseFacts = {
      model: requested.model,
      ...(requested.instructions === undefined ? {} : { instructions: requested.instructions }),
      ...(requested.previousId === undefined ? {} : { previous_response_id: requested.previousId }),
      ...(requested.conversation === undefined ? {} : { conversation_id: requested.conversation._id }),
      ...(requested.isBackground ? { background: true } : {}),
      ...(requested.isStored ? {} : { isUnstored: true }),
      context: context.length,
      functions: [...new Set([...requested.tools.functions, ...ownFunctions])],
      ...(requested.tools.shapes.length === 0 ? {} : { shapes: requested.tools.shapes }),
      ...(leftOut === undefined ? {} : { warnings: [noSearch(leftOut)] }),
      ...(container === undefined ? {} : { container }),
      serverLabels: requested.tools.servers.map(({ name }) => name),
      ...(listed.length === 0 ? {} : { listed: listed.map(({ shown }) => shown) }),
      ...(approvals.length === 0 ? {} : { approvals }),
      ...(found.allowed.length === 0
        ? {}
        : {
            approved: found.allowed.map(({ requestId }, index): [string, string] => [
              approvedCallId(runId, index),
              requestId,
            ]),
          }),
      ...(requested.summary === undefined
        ? {}
        : { compaction: sealed.sealSummary(caller.projectId, requested.summary) }),
      ...(requested.tools.foundText === undefined ? {} : { found_json: requested.tools.foundText }),
      shown: { ...usedOf(settings), ...requested.shown },
    }
    return {
      thread: thread ?? ownThread(caller, requested.isStored),
      withThread: thread === undefined,
      assistant,
      acting: requested.acting,
      input: foldMessages(context, given),
      attachments: [...earlier.attachments, ...found.attachments, ...(await missingFrom(thread, files))],
      overrides: {
        ...requested.overrides,
        ...(model === undefined ? {} : { model }),
        ...(requested.instructions ? { instructions: requested.instructions } : {}),
        ...serverTools(
          {
            fileSearch: requested.tools.fileSearch,
            webSearch: leftOut === undefined ? requested.tools.webSearch : undefined,
          },
          listed.flatMap(({ settings }) => settings),
          runId,
        ),
        ...allowedCalls(found.allowed, given, runId),
        ...codeOverride(requested.tools, container),
      },
      strategy: 'enqueue' as const,
      ...(claimed.length === 0 ? {} : { makeNeeds: () => claimCalls(caller, claimed, runId) }),
      ...(requested.metadataJson === undefined ? {} : { metadataJson: requested.metadataJson }),
      responseJson: JSON.stringify(facts),
    }
  }

  /**
   * The items that asked for the calls which the run will make: those that the conversation does not show as decided. In a
   * conversation, runs come one after the other and see what was decided.
   */
  async function callsToMake(
    caller: Caller,
    { previousId, conversation, retained }: NewResponse,
    { allowed, context, given }: { allowed: AllowedCall[]; context: Message[]; given: Message[] },
  ): Promise<string[]> {
    if (allowed.length === 0 || conversation !== undefined) return []
    const isCopied = context.length > 0 || previousId === undefined
    const before = isCopied
      ? context
      : (await readContext((await findPrevious(caller, previousId, retained)).run)).messages
    const notified = notifiedDecisions(foldMessages(before, given))
    return allowed.flatMap(({ requestId, index }) => (notified.has(given[index]?.data.id ?? '') ? [requestId] : []))
  }

  /**
   * Where the request wants code to be executed, with its files. `session`: it names that of another response, which
   * goes on only in the thread of that one; another thread has copies of the files.
   */
  async function sessionOf(
    caller: Caller,
    { code }: RequestedTools,
  ): Promise<{ container?: string; session?: string; files: NewAttachment[] }> {
    if (code === undefined) return { files: [] }
    const { container: id, fileIds, loc } = code
    if (!deps.canExecute)
      throw invalidInput([...loc, 'type'], 'code_interpreter is not available here: no code is executed', 'unsupported')
    const files = await deps.containers.copiesOf(caller, fileIds, [...loc, 'container', 'file_ids'])
    if (id === undefined) return { files }
    const { thread } = await deps.containers.use(caller, id).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
      throw invalidInput([...loc, 'container'], error.message, 'not_found')
    })
    return { ...(thread.container === undefined ? { session: thread._id } : { container: thread._id }), files }
  }

  /** Those of the files that the thread does not have: clients name them with each request. */
  async function missingFrom(thread: ThreadRecord | undefined, files: NewAttachment[]): Promise<NewAttachment[]> {
    if (thread === undefined || files.length === 0) return files
    const names = files.map(({ name }) => name)
    const there = await attachmentStore(deps.collections).listByName(thread._id, names)
    return files.filter(({ name, sha256 }) => !there.some((one) => one.name === name && one.sha256 === sha256))
  }

  /** Throws `upstream_failed`, naming the server, for one that cannot be asked: without it the answer would be another. */
  async function listServers(servers: RequestedServer[]) {
    const signal = AbortSignal.timeout(listMs)
    return Promise.all(
      servers.map(async (server) => {
        const { tools } = await deps.offeredBy(configOf(server), signal).catch((error: unknown) => {
          const why = error instanceof Error ? error.message : 'the MCP server failed'
          const msg = `the tools of the MCP server ${server.name} could not be listed: ${why}`
          throw new AppError('upstream_failed', msg, {
            fields: [{ loc: server.loc, msg, type: 'external_connector_error' }],
          })
        })
        const { readOnly } = server
        const offered = tools.filter(
          ({ annotations }) => readOnly === undefined || (annotations?.readOnlyHint === true) === readOnly,
        )
        const shown = offered.map(({ name, description = '', inputSchema, annotations }) => ({
          name,
          description,
          input_schema: inputSchema,
          annotations: annotations === undefined ? null : { ...annotations },
        }))
        const narrowed = readOnly === undefined ? server : { ...server, allowed_tools: offered.map(({ name }) => name) }
        return {
          ...settingsOfServer(configOf(narrowed), server.approval, offered),
          shown: { server_label: server.name, tools: withinBytes(shown, listedBytes / servers.length) },
        }
      }),
    )
  }

  /** About how many tokens the model of a request is asked with; `model` may be missing. */
  async function tokensOf(
    caller: Caller,
    requested: Omit<NewResponse, 'model'> & { model?: string },
    signal: AbortSignal,
  ): Promise<number> {
    const answering = requested.model === undefined ? undefined : await deps.answering(caller, requested.model)
    const own = answering === undefined ? undefined : deps.configs.settingsOf(answering.assistant)
    const earlier = await earlierOf(caller, requested)
    const { input } = await findItems(caller, requested.input, earlier)
    const { functionsText = '' } = requested.tools
    const { response_format_json: format = '' } = requested.overrides
    const texts = [own?.systemMessage ?? '', requested.instructions ?? '', functionsText, format]
    return countInput(deps.countTokens, { texts, messages: [...earlier, ...input] }, { userId: caller.userId, signal })
  }

  async function earlierOf(caller: Caller, requested: Omit<NewResponse, 'model'>): Promise<Message[]> {
    if (requested.conversation !== undefined) return (await readContext.ofThread(requested.conversation)).messages
    if (requested.previousId === undefined) return []
    const { run } = await findPrevious(caller, requested.previousId, requested.retained)
    return (await readContext(run)).messages
  }

  /** Of the window of the model that answers. */
  async function defaultThreshold(caller: Caller, name: string): Promise<number> {
    const { assistant, model } = await deps.answering(caller, name)
    const used = model ?? deps.configs.settingsOf(assistant).model ?? deps.models.current().defaultModel
    return Math.floor(deps.contextWindowOf(used) * compactedFrom)
  }

  /** The tools of the request that the service executes. Keys of MCP servers are sealed. */
  function serverTools(
    { fileSearch, webSearch }: Pick<RequestedTools, 'fileSearch' | 'webSearch'>,
    servers: ToolSetting[],
    runId: string,
  ): RunOverrides {
    const added: ToolSetting[] = [...(webSearch === undefined ? [] : [{ type: 'web_search' as const }]), ...servers]
    return {
      ...(fileSearch === undefined ? {} : { search_json: JSON.stringify(fileSearch) }),
      ...(added.length === 0 ? {} : { added_tools_sealed: deps.secretBox.seal(JSON.stringify(added), runId) }),
    }
  }

  return {
    /** For idempotent requests: also one that is not to be stored. */
    find: async (caller: Caller, runId: string): Promise<RunRecord> => (await find(caller, responseId(runId))).run,

    read: findStored,

    /** `confirm` is called before the run is stored. */
    create: (
      caller: Caller,
      requested: NewResponse,
      runId: string,
      confirm: () => Promise<void>,
    ): Promise<FollowedRun> => {
      const prepared = async () => {
        const newRun = await prepare(caller, requested, runId)
        await confirm()
        return newRun
      }
      return deps.runs.startFollowed(prepared(), runId).catch((error: unknown) => {
        throw asItemProblem(error, requested)
      })
    },

    follow: (run: RunRecord): Promise<RunFeed> => deps.runs.follow(run),

    tokensOf,

    /**
     * If the conversation of a request has more than `threshold` tokens: the request for a summary of it, and the rest of
     * the input, which is answered with the summary.
     */
    async compactionOf(
      caller: Caller,
      requested: NewResponse,
      { threshold, signal }: { threshold: number | undefined; signal: AbortSignal },
    ): Promise<{ request: NewResponse; rest: InputEntry[] } | undefined> {
      const limit = threshold ?? (await defaultThreshold(caller, requested.model))
      if ((await tokensOf(caller, requested, signal)) <= limit) return undefined
      if (requested.previousId !== undefined) {
        const rest = inputAfterSummary(await earlierOf(caller, requested), requested.input)
        return { request: summaryRequest(requested, { entries: [] }), rest }
      }
      const { before, rest } = splitForSummary(requested.input)
      return before.length === 0 ? undefined : { request: summaryRequest(requested, { entries: before }), rest }
    },

    /** The tools that the requests up to a response have found, as JSON text. */
    async foundTools(caller: Caller, previousId: string, retained?: ReadonlySet<string>): Promise<string | undefined> {
      return (await findPrevious(caller, previousId, retained)).facts.found_json
    },

    sealThought: ({ project_id: projectId }: RunRecord, thought: Thought): string =>
      sealed.sealThought(projectId, thought),

    sealSummary: ({ project_id: projectId }: RunRecord, summary: string): string =>
      sealed.sealSummary(projectId, summary),

    /** The messages that the run has added, as far as they are stored; of very many the newest. */
    outputOf: async (run: RunRecord): Promise<Message[]> => (await deps.runs.output(run)).messages,

    /** The messages of the request. */
    inputOf: ({ run, facts }: ResponseRun): Message[] => messagesFromJson(run.input_json).slice(facts.context),

    /** The run as stored. */
    reread: async (run: RunRecord): Promise<RunRecord> => (await runStore(deps.collections).findInThread(run)) ?? run,

    /** A response that has ended is not changed. */
    async cancel(caller: Caller, id: string): Promise<ResponseRun> {
      const { run, facts } = await findStored(caller, id)
      return { run: isOpenRun(run) ? await deps.runs.cancel(run) : run, facts }
    },

    remove: async (caller: Caller, id: string): Promise<DeletionResult | undefined> =>
      removeResponse(caller, await findStored(caller, id)),

    /** Deletes a response that is not to be stored, or begins to: its caller has the answer. */
    async forget(run: RunRecord, end: { isOver: boolean }): Promise<void> {
      if (!(await attachmentStore(deps.collections).hasWritten(run.thread_id))) return deps.eraseUnstored(run, end)
      // Its caller was told of files that code has written, and reads them after the answer.
      const expires_at = new Date(Date.now() + containerLimits.minutes * 60_000)
      await threadStore(deps.collections).changeOwned(run.user_id, run.thread_id, { $set: { expires_at } })
    },
  }
}

function codeOverride({ code }: RequestedTools, container: string | undefined): Pick<RunOverrides, 'code_json'> {
  if (code === undefined) return {}
  const override: CodeOverride = { isAdded: true, ...(container === undefined ? {} : { container }) }
  return { code_json: JSON.stringify(override) }
}

/** Room is left for the answer, and for tokens that are counted otherwise. */
const compactedFrom = 0.75
const listMs = 15_000
/** What is kept of the servers' lists with the response, in equal shares; further tools are offered, and not shown. */
const listedBytes = 128 * 1024

function withinBytes<T>(tools: T[], bytes: number): T[] {
  let left = bytes
  return tools.filter((tool) => (left -= Buffer.byteLength(JSON.stringify(tool))) >= 0)
}

function configOf({ loc: _loc, readOnly: _readOnly, approval: _approval, ...config }: RequestedServer) {
  return config
}

/** The call is made by the run that was allowed to: it needs the server, and its keys. */
function requireServer({ name }: ToolCall, servers: RequestedServer[]): void {
  if (servers.some((server) => name.startsWith(`${server.name}_`))) return
  throw invalidInput(['body', 'tools'], `the MCP server of the call ${name}, which was allowed, must be among them`)
}

function allowedCalls(
  allowed: AllowedCall[],
  given: Message[],
  runId: string,
): Pick<RunOverrides, 'approved_calls_json'> {
  const calls = allowed.map(({ call, index }, position): ApprovedCall => ({
    call: { ...call, id: approvedCallId(runId, position) },
    decision: given[index]?.data.id ?? '',
  }))
  return calls.length === 0 ? {} : { approved_calls_json: JSON.stringify(calls) }
}

/**
 * A call that was allowed has an id that no model has given: models number the calls of each answer anew, so that another
 * call can have the id of the request.
 */
function approvedCallId(runId: string, index: number): string {
  return `${allowedCallPrefix(runId)}${index}`
}

function ownSummary(text: string): Message {
  return withOwnId(summaryMessage(text), newId())
}

/** The values of the assistant, which hold where the request names none. */
function usedOf({ temperature, topP }: AssistantSettings): ResponseFacts['shown'] {
  return { ...(temperature === undefined ? {} : { temperature }), ...(topP === undefined ? {} : { top_p: topP }) }
}

function noSearch({ param }: { param: string }): ResponseWarning {
  return { code: 'tool_left_out', message: 'web_search is left out: no search service is configured here.', param }
}

/** A request that demands the search cannot do without it. */
function refuseDemanded({ overrides, tools }: NewResponse): void {
  const choice = overrides.tool_choice_json
  const isOnly = tools.functions.length + tools.servers.length === 0 && tools.fileSearch === undefined
  if (choice?.includes('"web_search"') || (choice !== undefined && choice !== '"none"' && isOnly))
    throw invalidInput(
      ['body', 'tool_choice'],
      'web_search is not available here: no search service is configured',
      'unsupported',
    )
}

/** In no list of the owner's threads, and without a place of the quota. */
function ownThread({ userId, projectId }: Caller, isStored: boolean): ThreadRecord {
  const thread = threadRecordOf({
    id: newId(),
    userId,
    projectId,
    name: 'Response',
    metadataJson: '{}',
    public: false,
  })
  return { ...thread, counted: false, ...(isStored ? {} : { expires_at: new Date(Date.now() + unstoredMs) }) }
}

/** Messages that exist already keep their ids: the conversation may hold them. */
function withOwnId(message: Message, id: string): Message {
  if (message.data.id !== '') return message
  return { ...message, data: { ...message.data, id } } as Message
}

function missing(id: string): AppError {
  return new AppError('not_found', `There is no response ${id}.`)
}

/** A result without its call is refused when the run starts, in the words of the native API. */
function asItemProblem(error: unknown, { input }: NewResponse): unknown {
  if (!(error instanceof AppError)) return error
  const [field] = error.fields ?? []
  if (field?.loc.at(-1) !== 'tool_call_id') return error
  const index = input.findIndex((entry) =>
    'message' in entry ? entry.message.type === 'ToolMessage' : 'callId' in entry && entry.callId !== undefined,
  )
  return invalidInput(['body', 'input', Math.max(index, 0), 'call_id'], field.msg)
}
