import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { type Estate, fillEstate, fingerprint } from '../support/estate.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'
import { type Expectation, type Ids, compat, native, operators, publicNative } from './cross-user-table.ts'

interface Operation {
  method: string
  path: string
  name: string
  expectation: Expectation | undefined
  isPublic: boolean
}

interface Side {
  ids: Ids
  estate: Estate
  /** By the public token of the user's own assistant, and by the user's own token. */
  publicToken: string
  token: string
}

const tokenKey = 'type==agent/public_token'
const marker = `only-for-the-owner-${newId()}`

describe('one user with the ids of another', () => {
  let service: TestService
  let own: Side
  let other: Side
  let operations: Operation[]

  beforeAll(async () => {
    service = await startService({
      worker: false,
      env: { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' },
    })
    own = await side(service, 'mine')
    other = await side(service, marker)
    operations = await operationsOf(service)
  })
  afterAll(() => service.close())

  it('has an expectation for every operation, and none that is out of date', () => {
    expect(operations.length).toBeGreaterThan(80)
    expect(operations.filter(({ expectation }) => expectation === undefined).map(({ name }) => name)).toEqual([])
    const names = new Set(operations.map(({ name }) => name))
    const listed = [
      ...Object.keys(native),
      ...Object.keys(publicNative),
      ...Object.keys(compat).flatMap((name) => [`compat.${name}`, `public.${name}`]),
    ]
    expect(listed.filter((name) => !names.has(name))).toEqual([])
  })

  it('names an id for every parameter of every path', () => {
    const unknown = operations.flatMap(({ name, path }) =>
      parametersOf(path).filter((parameter) => !(parameter in own.ids) && !isOpen(name)),
    )
    expect(unknown).toEqual([])
  })

  it('is refused everywhere, learns nothing and changes nothing', async () => {
    const before = await fingerprint(service, other.estate)
    const wrong: string[] = []
    let sent = 0
    for (const operation of operations) {
      for (const { what, expected, path, body } of requestsFor(operation, own.ids, other.ids)) {
        const token = operation.isPublic ? own.publicToken : own.token
        const { status, text } = await send(service, operation.method, path, token, body)
        sent += 1
        const label = `${operation.method} ${operation.path} (${what})`
        if (!expected.includes(status))
          wrong.push(`${label}: ${status} instead of ${expected.join(' or ')}: ${text.slice(0, 200)}`)
        if (text.includes(marker)) wrong.push(`${label} shows what is another's`)
      }
    }
    expect(wrong).toEqual([])
    expect(sent).toBeGreaterThan(100)
    expect(await fingerprint(service, other.estate)).toBe(before)
  })

  it('is let in with the same requests when the ids are its own', async () => {
    for (const path of [
      `/assistants/${own.ids.aid}`,
      `/threads/${own.ids.tid}`,
      `/runs/${own.ids.run_id}`,
      `/receipts/${own.ids.receipt_id}`,
    ]) {
      expect((await apiClient(service.url, own.token).call('GET', path)).status).toBe(200)
    }
    expect(
      (await apiClient(service.url, own.publicToken).call('GET', `/public/compat/v1/threads/${own.ids.thread_id}`))
        .status,
    ).toBe(200)
  })

  it('is nobody without a token: every route of users asks for one', async () => {
    const document = await documentOf(service)
    const guarded = document.filter(({ security }) => JSON.stringify(security) === '[{"userToken":[]}]')
    expect(guarded.length).toBeGreaterThan(40)
    for (const { method, path } of guarded) {
      const { status } = await send(service, method, fill(path, own.ids), undefined, undefined)
      expect(status, `${method} ${path}`).toBe(401)
    }
  })
})

/** All ids the other's; and, where there are several, each of them alone among the caller's own. */
function* requestsFor({ path, expectation }: Operation, own: Ids, other: Ids) {
  if (expectation === undefined || 'takesNoIds' in expectation) return
  if ('shows' in expectation) {
    yield { what: 'as it is', expected: [200], path, body: undefined }
    return
  }
  if ('foreignBody' in expectation) {
    for (const { status, body } of expectation.foreignBody) {
      yield { what: 'ids in the body', expected: [status], path: fill(path, own), body: body(own, other) }
    }
    return
  }
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

async function send(service: TestService, method: string, path: string, token: string | undefined, body: unknown) {
  const isForm = body instanceof FormData
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    signal: AbortSignal.timeout(15_000),
  })
  return { status: response.status, text: await response.text() }
}

async function documentOf(service: TestService) {
  const { paths } = (await apiClient(service.url).call('GET', '/openapi.json')).body
  const found: { method: string; path: string; name: string; security: unknown }[] = []
  for (const [path, methods] of Object.entries<Record<string, { operationId: string; security: unknown }>>(paths)) {
    for (const [method, { operationId, security }] of Object.entries(methods)) {
      found.push({ method: method.toUpperCase(), path, name: operationId, security })
    }
  }
  return found
}

async function operationsOf(service: TestService): Promise<Operation[]> {
  const document = await documentOf(service)
  return document
    .filter(({ method, name }) => method !== 'OPTIONS' && !operators.test(name))
    .map(({ method, path, name }) => {
      const isPublic = path.startsWith('/public/')
      const expectation = isPublic
        ? (publicNative[name] ?? compat[name.replace(/^(?:compat|public)\./, '')])
        : native[name]
      return { method, path, name, isPublic, expectation }
    })
}

const parametersOf = (path: string) => Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
const isOpen = (name: string) => name === 'accounts.verificationStatus'
const fill = (path: string, ids: object) =>
  path.replace(/\{(\w+)\}/g, (_whole, name: string) => String(Object.entries(ids).find(([key]) => key === name)?.[1]))

async function side(service: TestService, name: string): Promise<Side> {
  const user = await insertUser(service)
  const estate = await fillEstate(service, user)
  const [aid = ''] = estate.assistants
  const [tid = '', publicThread = ''] = estate.threads
  const [runId = '', publicRun = ''] = estate.runs
  const publicToken = `${name}-${newId()}`
  const config = {
    'type==agent/access_mode': 'public_token',
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
  const file = await service.collections.files.findOne({ assistant_id: aid }).lean()
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
  return {
    estate,
    publicToken,
    token: user.token,
    ids: {
      project_id: estate.secondProjectId,
      aid,
      assistant_id: aid,
      model: aid,
      file_id: file?._id ?? '',
      ingestion_id: file?.ingestion_id ?? '',
      tid,
      thread_id: publicThread,
      run_id: runId,
      message_id: `message-${publicThread}`,
      step_id: publicRun,
      receipt_id: receiptId,
    },
  }
}
