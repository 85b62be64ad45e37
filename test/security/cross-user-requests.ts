import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { type Estate, fillEstate } from '../support/estate.ts'
import type { RunningService } from '../support/service.ts'
import { type TestUser, insertUser } from '../support/users.ts'
import { type Expectation, type Ids, compat, native, operators, publicNative } from './cross-user-table.ts'

export interface Operation {
  method: string
  path: string
  name: string
  expectation: Expectation | undefined
  isPublic: boolean
}

/** One user with an estate, whose every text is `marker`. */
export interface Side {
  ids: Ids
  estate: Estate
  /** By the public token of the user's own assistant, and by the user's own token. */
  publicToken: string
  token: string
  marker: string
}

export interface CrossRequest {
  label: string
  operation: Operation
  path: string
  body: unknown
  expected: number[]
}

/** With them a checkout of another is looked for; the provider itself is not there. */
export const billingKeys = {
  STRIPE_SECRET_KEY: 'sk_test_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_1',
  STRIPE_API_BASE: 'http://127.0.0.1:9',
}

const tokenKey = 'type==agent/public_token'

/** What `own` asks for with the ids of `other`, and how each must be answered. */
export function requestsOf(operations: Operation[], own: Side, other: Side): CrossRequest[] {
  return operations.flatMap((operation) =>
    Array.from(requestsFor(operation, idsOn(operation, own), idsOn(operation, other)), ({ what, ...request }) => ({
      ...request,
      operation,
      label: `${operation.method} ${operation.path} (${what})`,
    })),
  )
}

/** What is wrong with the answer that `own` gets, if anything; `text` is the answer. */
export async function judge(
  service: RunningService,
  request: CrossRequest,
  own: Side,
  other: Side,
  patienceMs?: number,
) {
  const { operation, path, body, expected, label } = request
  const token = operation.isPublic ? own.publicToken : own.token
  const { status, text } = await send(service, operation.method, path, token, body, patienceMs)
  const wrong: string[] = []
  if (!expected.includes(status))
    wrong.push(`${label}: ${status} instead of ${expected.join(' or ')}: ${text.slice(0, 200)}`)
  if (text.includes(other.marker)) wrong.push(`${label} shows what is another's`)
  return { wrong, text }
}

/** On `/v1`, files are those of the project. */
export function idsOn({ path }: Operation, { ids }: Side): Ids {
  return path.startsWith('/v1/') ? { ...ids, file_id: ids.project_file_id } : ids
}

/** All ids the other's; and, where there are several, each of them alone among the caller's own. */
function* requestsFor({ method, name, path, expectation }: Operation, own: Ids, other: Ids) {
  if (expectation === undefined || 'takesNoIds' in expectation) return
  if ('shows' in expectation) {
    yield { what: 'as it is', expected: [200], path, body: undefined }
    return
  }
  for (const { status, body } of expectation.foreignBody ?? []) {
    yield { what: 'ids in the body', expected: [status], path: fill(path, own), body: body(own, other) }
  }
  if (!('foreign' in expectation)) return
  // What the caller's own things show is the caller's. Streams stay open.
  if (method === 'GET' && !/\.(?:join|resume|ingestionEvents)$/.test(name))
    yield { what: 'own ids', expected: [200, 404], path: fill(path, own), body: undefined }
  const body = expectation.body?.(own, other)
  yield { what: "all ids the other's", expected: [expectation.foreign], path: fill(path, other), body }
  const parameters = parametersOf(path)
  if (parameters.length < 2) return
  for (const parameter of parameters) {
    const mixed = { ...own, [parameter]: Object.entries(other).find(([name]) => name === parameter)?.[1] }
    yield {
      what: `${parameter} the other's`,
      expected: [403, 404],
      path: fill(path, mixed),
      body: expectation.body?.(own, other),
    }
  }
}

const usualMs = 15_000

/**
 * The answer, or as much of it as comes within `patienceMs` of its head: a stream may stay open. Status 0 is no answer, in
 * no less than the usual time.
 */
export async function send(
  service: RunningService,
  method: string,
  path: string,
  token: string | undefined,
  body: unknown,
  patienceMs = usualMs,
) {
  const isForm = body instanceof FormData
  const answer = { status: 0, text: '' }
  const late = new AbortController()
  const leaveIn = (ms: number) => setTimeout(() => late.abort(new DOMException('late', 'TimeoutError')), ms)
  let limit = leaveIn(Math.max(patienceMs, usualMs))
  try {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      signal: late.signal,
    })
    answer.status = response.status
    clearTimeout(limit)
    limit = leaveIn(patienceMs)
    const decoder = new TextDecoder()
    for await (const piece of response.body ?? []) answer.text += decoder.decode(piece, { stream: true })
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'TimeoutError')) throw error
  } finally {
    clearTimeout(limit)
  }
  return answer
}

export async function documentOf(service: RunningService) {
  const { paths } = (await apiClient(service.url).call('GET', '/openapi.json')).body
  const found: { method: string; path: string; name: string; security: unknown }[] = []
  for (const [path, methods] of Object.entries<Record<string, { operationId: string; security: unknown }>>(paths)) {
    for (const [method, { operationId, security }] of Object.entries(methods)) {
      found.push({ method: method.toUpperCase(), path, name: operationId, security })
    }
  }
  return found
}

export async function operationsOf(service: RunningService): Promise<Operation[]> {
  const document = await documentOf(service)
  return document
    .filter(({ method, name }) => method !== 'OPTIONS' && !operators.test(name))
    .map(({ method, path, name }) => {
      const isPublic = path.startsWith('/public/')
      const expectation = isPublic ? (publicNative[name] ?? compat[name.replace(/^compat\./, '')]) : native[name]
      return { method, path, name, isPublic, expectation }
    })
}

export const parametersOf = (path: string) => Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
/** What is in their paths belongs to nobody who could be another: providers are those of the settings. */
const openOnes = ['accounts.verificationStatus', 'accounts.socialCallbackOf', 'accounts.socialLogoutOf']
export const isOpen = (name: string) => openOnes.includes(name)
export const fill = (path: string, ids: object) =>
  path.replace(/\{(\w+)\}/g, (_whole, name: string) => String(Object.entries(ids).find(([key]) => key === name)?.[1]))

interface SideOptions {
  /** One of the threads has a run under way, whose input is not in the log yet. */
  hasOpenRun?: boolean
  /** Whose estate it is; without it a new user's. */
  user?: TestUser
  /** How many of his projects are filled. */
  projects?: number
}

export async function createSide(
  service: RunningService,
  name: string,
  { hasOpenRun = false, user: given, projects = 2 }: SideOptions = {},
): Promise<Side> {
  const user = given ?? (await insertUser(service))
  const estate = await fillEstate(service, user, { projects })
  const [aid = ''] = estate.assistants
  const [tid = '', publicThread = ''] = estate.threads
  const [runId = '', publicRun = ''] = estate.runs
  const publicToken = `${name}-${newId()}`
  const config = {
    'type==agent/access_mode': 'public_token',
    'type==agent/keeps_chats': true,
    [tokenKey]: publicToken,
    'type==agent/system_message': name,
  }
  await user.call('PUT', `/assistants/${aid}`, { name, config })
  await user.call('PUT', `/threads/${tid}`, { name, metadata: { name } })
  for (const thread of [tid, publicThread]) {
    await user.call('POST', `/threads/${thread}/state`, {
      values: [{ type: 'human', content: name, id: `message-${thread}` }],
    })
  }
  await service.collections.runs.updateOne({ _id: publicRun }, { $set: { public: true } })
  if (hasOpenRun) {
    const input = [{ type: 'HumanMessage', data: { id: newId(), content: name } }]
    await service.collections.runs.updateOne(
      { _id: runId },
      { $set: { status: 'running', input_json: JSON.stringify(input) }, $unset: { finished_at: 1 } },
    )
  }
  const file = await service.collections.files.findOne({ assistant_id: aid }).lean()
  const entry = await service.collections.files.findOne({ source_id: estate.projectFiles[0] }).lean()
  const announced = { filename: 'a.txt', mime_type: 'text/plain', bytes: 3, purpose: 'assistants' }
  const { body: upload } = await user.call('POST', '/v1/uploads', announced)
  const receiptId = newId()
  await service.collections.receipts.create({
    _id: receiptId,
    kind: 'thread',
    subject_id: newId(),
    user_id: user.userId,
    status: 'complete',
    found: {},
    left: {},
    created_at: new Date(),
  })
  const { conversationId, itemId } = await addConversation(service, { tid, projectId: user.projectId, text: name })
  const completion = { model: name, stored: true, tags: [] }
  await service.collections.runs.updateOne(
    { _id: runId },
    { $set: { status: 'success', completion, response_json: responseFacts } },
  )
  const attachment = await service.collections.attachments.findOne({ thread_id: tid }, { _id: 1 }).lean()
  const purchase = await service.collections.purchases.findOne({ user_id: user.userId }).lean()
  return {
    estate,
    publicToken,
    marker: name,
    token: user.token,
    ids: {
      project_id: estate.secondProjectId,
      member_id: estate.userId,
      invitation_token: newId(),
      login_id: estate.loginId,
      prompt_id: estate.promptId,
      folder_id: estate.folderId,
      memory_id: estate.memoryId,
      share_token: estate.shareToken,
      document_id: estate.documentId,
      aid,
      assistant_id: aid,
      model: aid,
      file_id: file?._id ?? '',
      vector_store_id: estate.stores[0] ?? '',
      project_file_id: estate.projectFiles[0] ?? '',
      batch_id: `batch-${entry?._id}`,
      upload_id: upload.id,
      response_id: `resp_${runId}`,
      conversation_id: conversationId,
      container_id: `cntr_${tid}`,
      item_id: itemId,
      ingestion_id: file?.ingestion_id ?? '',
      mcp_login_id: newId(),
      side_id: newId(),
      tid,
      attachment_id: attachment?._id ?? '',
      thread_id: publicThread,
      run_id: runId,
      completion_id: `chatcmpl-${runId}`,
      message_id: `message-${publicThread}`,
      step_id: publicRun,
      receipt_id: receiptId,
      session_id: purchase?._id ?? '',
      schedule_id: estate.schedules[0] ?? '',
      source_id: estate.sources[0] ?? '',
    },
  }
}

const responseFacts = JSON.stringify({ model: 'm', context: 0, functions: [], serverLabels: [], shown: {} })

/** A conversation of the user with one item. */
async function addConversation(
  { collections }: RunningService,
  { tid, projectId, text }: { tid: string; projectId: string; text: string },
) {
  const [threadId, entryId] = [newId(), newId()]
  const messageId = `${entryId}-i0`
  const thread = await collections.threads.findById(tid).lean()
  await collections.threads.create({
    ...thread,
    _id: threadId,
    project_id: projectId,
    kind: 'conversation',
    last_seq: 1,
  })
  await collections.checkpoints.create({
    _id: entryId,
    thread_id: threadId,
    seq: 1,
    messages_json: JSON.stringify([{ type: 'HumanMessage', data: { id: messageId, content: text } }]),
    source: 'update',
    created_at: new Date(),
  })
  return { conversationId: `conv_${threadId}`, itemId: `msg_${messageId}` }
}
