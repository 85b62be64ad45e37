import { AppError, invalidInput } from '../../domain/errors.ts'
import { type Message, authoredBy, messagesToJson } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type RunOverrides, type RunRecord, firstFence } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { withStores } from '../../domain/run-overrides.ts'
import { keyContext } from '../assistants/compat-accounts.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { BudgetCounting } from '../budgets/counting.ts'
import type { Collections } from '../collections.ts'
import type { AllowancesNow } from '../groups/allowances.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import { type ModelsNow, platformAccount } from '../models/live-models.ts'
import type { SecretBox } from '../secrets.ts'
import { folderStore } from '../stores/folders.ts'
import { type Conversations, searchedBytes } from '../threads/conversations.ts'
import { countsInQuota } from '../threads/create-thread.ts'
import { requireRoom } from '../threads/log.ts'
import type { Tracing } from '../tracing.ts'
import type { ModelAccount } from './chat-model.ts'
import type { NewRun } from './prepare-run.ts'

export interface AdmitRunDeps {
  collections: Pick<Collections, 'folders'>
  storageQuota: Pick<StorageQuota, 'requireRoomForRun'>
  budgetCounting: Pick<BudgetCounting, 'admit'>
  conversations: Pick<Conversations, 'read'>
  tracing: Pick<Tracing, 'currentTraceparent'>
  accountOf(assistant: AssistantRecord): ModelAccount | undefined
  allowances: Pick<AllowancesNow, 'requireModel'>
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf'>
  models: ModelsNow
}

/**
 * A run is passed to its thread within seconds after it was stored; after this time, the process that stored it is
 * considered dead.
 */
const firstCheckAfterMs = 15_000

/**
 * The record of a run that may be started; it is counted against its budgets. It is shown as running from the moment in
 * which it is stored, unless it then waits for others on its thread. Throws `unavailable` if no model is configured,
 * `forbidden` for a model that the user may not use, `invalid_input` for results of no call and if the thread is full,
 * and what `BudgetCounting.admit` throws.
 */
export async function admitRun(
  {
    collections,
    budgetCounting,
    conversations,
    tracing,
    accountOf,
    storageQuota,
    allowances,
    assistantConfigs,
    models,
  }: AdmitRunDeps,
  {
    thread,
    withThread = false,
    assistant,
    input: given,
    attachments = [],
    inputLoc,
    overrides: wanted = {},
    metadataJson,
    responseJson,
    completion,
    scheduleId,
    askedBy,
    budgets: inherited = [],
    public: isPublic = false,
    userId = thread.user_id,
    acting,
  }: NewRun,
  runId: string,
): Promise<RunRecord> {
  if (accountOf(assistant) === undefined)
    throw new AppError('unavailable', 'The agent is not initialized: no model is configured.')
  const overrides = await inFolder(collections, thread, wanted)
  const model = overrides.model ?? assistantConfigs.settingsOf(assistant).model ?? models.current().defaultModel
  await allowances.requireModel(userId, model)
  const checked = await checkResults(conversations, { thread, input: given, isNewThread: withThread, loc: inputLoc })
  const input = thread.visibility === undefined ? checked : authoredBy(userId, checked)
  const inputJson = messagesToJson(input)
  const inputBytes = Buffer.byteLength(inputJson)
  requireRoom(thread, inputBytes)
  const attachedBytes = attachments.reduce((sum, { size }) => sum + size, 0)
  if (attachedBytes > 0 || keepsWithoutPlace(thread))
    await storageQuota.requireRoomForRun(userId, inputBytes + attachedBytes, isPublic)
  const bytes = (thread.log_bytes ?? 0) + inputBytes
  // What its own public callers may cost is another matter than what those of the asking assistant may.
  const isOfOwnPublic = isPublic && askedBy === undefined
  const question = { assistant, overrides, bytes, ...(isPublic ? {} : { userId }) }
  const budgets = await budgetCounting.admit(runId, isOfOwnPublic, question, inherited)
  const now = new Date()
  const traceparent = tracing.currentTraceparent()
  return {
    _id: runId,
    thread_id: thread._id,
    user_id: userId,
    ...(userId === thread.user_id ? {} : { in_chat_of_other: true }),
    project_id: thread.project_id,
    assistant_id: assistant._id,
    public: isPublic,
    acting,
    status: 'running',
    input_json: inputJson,
    overrides,
    ...(completion === undefined ? {} : { completion }),
    ...(scheduleId === undefined ? {} : { schedule_id: scheduleId }),
    ...(askedBy === undefined ? {} : { asked_by: askedBy }),
    ...(metadataJson === undefined ? {} : { metadata_json: metadataJson }),
    ...(responseJson === undefined ? {} : { response_json: responseJson }),
    ...(budgets.length > 0 ? { budgets } : {}),
    fence: firstFence,
    created_at: now,
    started_at: now,
    check_at: new Date(now.getTime() + firstCheckAfterMs),
    ...(traceparent === undefined ? {} : { traceparent }),
  }
}

/** What the run is told and searches in the folder of its thread, before what is its own. */
async function inFolder(
  collections: Pick<Collections, 'folders'>,
  { user_id: userId, folder_id: folderId, public: isPublic }: ThreadRecord,
  overrides: RunOverrides,
): Promise<RunOverrides> {
  // What is in a folder is for nobody else.
  const folder = folderId === undefined || isPublic ? null : await folderStore(collections).findOwned(userId, folderId)
  if (folder === null) return overrides
  const { instructions = '', vector_store_id: storeId } = folder
  const texts = [instructions, overrides.instructions ?? ''].filter(Boolean)
  return {
    ...overrides,
    ...(texts.length === 0 ? {} : { instructions: texts.join('\n\n') }),
    ...(storeId === undefined ? {} : { search_json: withStores(overrides.search_json, [storeId]) }),
  }
}

/** Whether what is said on the thread is kept, and no thread quota limits how much. */
function keepsWithoutPlace(thread: ThreadRecord): boolean {
  return !countsInQuota(thread) && thread.expires_at === undefined
}

/**
 * The input of a run without results that were said before: some clients send all of them again with each turn. The other
 * results of tools belong to calls of its thread, or of the input, that have no result yet. Throws `invalid_input`
 * otherwise: the model would not be shown them.
 */
async function checkResults(
  conversations: Pick<Conversations, 'read'>,
  {
    thread,
    input,
    isNewThread,
    loc = ['body', 'input'],
  }: { thread: ThreadRecord; input: Message[]; isNewThread: boolean; loc?: string[] | undefined },
): Promise<Message[]> {
  if (input.every(({ type }) => type !== 'ToolMessage')) return input
  const before = isNewThread ? [] : (await conversations.read(thread._id, searchedBytes, { thread })).messages
  const open = new Map<string, number>()
  const said = new Set<string>()
  const note = (message: Message) => {
    if (message.type === 'AIMessage')
      for (const { id } of message.data.tool_calls ?? []) open.set(id, (open.get(id) ?? 0) + 1)
    if (message.type !== 'ToolMessage') return true
    const calls = open.get(message.data.tool_call_id) ?? 0
    open.set(message.data.tool_call_id, Math.max(0, calls - 1))
    said.add(textOf(message))
    return calls > 0
  }
  for (const message of before) note(message)
  const refusal = (index: number) =>
    invalidInput([...loc, index, 'tool_call_id'], 'no call without a result has this id')
  const left = input.filter((message, index) => {
    const wasSaid = message.type === 'ToolMessage' && said.has(textOf(message))
    if (note(message)) return true
    if (!wasSaid) throw refusal(index)
    return false
  })
  if (left.length === 0) throw refusal(0)
  return left
}

function textOf({ data }: Extract<Message, { type: 'ToolMessage' }>): string {
  return JSON.stringify([data.tool_call_id, data.content])
}

/**
 * The account of an assistant's runs; undefined if there is none. An assistant with its own account never uses
 * another: if its key is missing or cannot be unsealed, it has no model.
 */
export function createAccountOf(models: ModelsNow, secretBox: Pick<SecretBox, 'open'>) {
  return ({ _id, compat_account: own }: AssistantRecord): ModelAccount | undefined => {
    if (own === undefined) return platformAccount(models)
    const apiKey = own.encrypted_key && openOrUndefined(own.encrypted_key, keyContext(_id, own.base_url))
    return apiKey ? { kind: own.kind, apiKey, baseUrl: own.base_url, setByUser: true } : undefined
  }

  function openOrUndefined(sealed: string, context: string): string | undefined {
    try {
      return secretBox.open(sealed, context)
    } catch {
      return undefined
    }
  }
}
