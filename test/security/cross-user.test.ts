import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { roleOfOperation } from '../../api/plugins/operation-roles.ts'
import { newId } from '../../domain/ids.ts'
import { joinProject, tokenOf } from '../projects/joined.ts'
import { apiClient } from '../support/api-client.ts'
import { fingerprint } from '../support/estate.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser, newEmail } from '../support/users.ts'
import {
  billingKeys,
  type Operation,
  type Side,
  createSide,
  documentOf,
  fill,
  isOpen,
  judge,
  operationsOf,
  parametersOf,
  requestsOf,
  send,
} from './cross-user-requests.ts'
import { compat, native, publicNative } from './cross-user-table.ts'

describe('requests with the ids of another user', () => {
  let service: TestService
  let own: Side
  let other: Side
  let operations: Operation[]

  beforeAll(async () => {
    service = await startService({
      worker: false,
      env: { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', ...billingKeys },
    })
    own = await createSide(service, 'mine')
    other = await createSide(service, `only-for-the-owner-${newId()}`, { hasOpenRun: true })
    operations = await operationsOf(service)
  })
  afterAll(() => service.close())

  it('have an expectation for every operation, and no outdated one', () => {
    expect(operations.length).toBeGreaterThan(80)
    expect(operations.filter(({ expectation }) => expectation === undefined).map(({ name }) => name)).toEqual([])
    const names = new Set(operations.map(({ name }) => name))
    const listed = [
      ...Object.keys(native),
      ...Object.keys(publicNative),
      ...Object.keys(compat).map((name) => `compat.${name}`),
    ]
    expect(listed.filter((name) => !names.has(name))).toEqual([])
  })

  it('have an id for every parameter of every path', () => {
    const unknown = operations.flatMap(({ name, path }) =>
      parametersOf(path).filter((parameter) => !(parameter in own.ids) && !isOpen(name)),
    )
    expect(unknown).toEqual([])
  })

  it('are refused everywhere, reveal nothing and change nothing', async () => {
    const before = await fingerprint(service, other.estate)
    const requests = requestsOf(operations, own, other)
    const wrong: string[] = []
    for (const request of requests) wrong.push(...(await judge(service, request, own, other)).wrong)
    expect(wrong).toEqual([])
    expect(requests.length).toBeGreaterThan(100)
    expect(await fingerprint(service, other.estate)).toBe(before)
  })

  it(
    'are refused to an editor of one project for what the same account has in another',
    { timeout: 120_000 },
    async () => {
      const holder = await insertUser(service)
      const member = await joinProject(service, holder.projectId, 'editor')
      const inside = await createSide(service, `inside-${newId()}`, { user: holder })
      const { body: project } = await holder.call('POST', '/projects/', { name: 'outside' })
      const token = await tokenOf(service, holder.userId, project.project_id)
      const pinned = { ...apiClient(service.url, token), token, projectId: String(project.project_id) }
      const user = { ...holder, ...pinned, email: newEmail() }
      const outside = await createSide(service, `outside-${newId()}`, { user, projects: 1 })
      const ids = outside.estate.ids.filter((id) => id !== holder.userId)
      const before = await fingerprint(service, { ...outside.estate, ids })
      const own: Side = { ...inside, token: member.token }
      const wrong: string[] = []
      // Threads, runs and facts are the holder's own; what `own ids` show is of the shared project.
      const ofProject = requestsOf(operations, own, outside).filter(
        ({ operation: { isPublic, name }, label }) =>
          !isPublic && roleOfOperation(name) !== undefined && !label.includes('own ids') && !label.includes('as it is'),
      )
      for (const request of ofProject) {
        const { status, text } = await send(service, request.operation.method, request.path, own.token, request.body)
        if (![403, 404, ...request.expected].includes(status))
          wrong.push(`${request.label}: ${status} ${text.slice(0, 200)}`)
        if (text.includes(outside.marker)) wrong.push(`${request.label} shows what is another's`)
      }
      expect(wrong).toEqual([])
      expect(ofProject.length).toBeGreaterThan(80)
      expect(await fingerprint(service, { ...outside.estate, ids })).toBe(before)
    },
  )

  it("are accepted with the user's own ids", async () => {
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

  it('require a token on every route of users', async () => {
    const document = await documentOf(service)
    const guarded = document.filter(({ security }) => JSON.stringify(security) === '[{"userToken":[]}]')
    expect(guarded.length).toBeGreaterThan(40)
    for (const { method, path } of guarded) {
      const { status } = await send(service, method, fill(path, own.ids), undefined, undefined)
      expect(status, `${method} ${path}`).toBe(401)
    }
  })
})
