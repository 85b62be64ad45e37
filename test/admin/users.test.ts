import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { unprocessed } from '../../domain/records/file.ts'
import { apiClient } from '../support/api-client.ts'
import { useModelService } from '../support/model-service.ts'
import { goodPassword, insertUser, signUpUser, type TestUser } from '../support/users.ts'

const tokenKey = 'type==agent/public_token'
const modeKey = 'type==agent/access_mode'

describe('administration of users', () => {
  const service = useModelService({ respond: () => ({ text: ['well'] }) })
  const admin = (method: string, path: string, body?: unknown) =>
    apiClient(service.url, service.env['ADMIN_TOKEN']).call(method, path, body)
  const suspend = (user: { userId: string }) => admin('POST', `/admin/users/${user.userId}/suspend`, { reason: 'spam' })
  const restore = (user: { userId: string }) => admin('POST', `/admin/users/${user.userId}/restore`)

  async function publish(user: TestUser, mode: 'public_token' | 'public_no_auth') {
    const publicToken = `pt-${newId()}`
    const { assistant_id: id } = await user.post('/assistants/', {
      name: 'Open',
      public: true,
      config: { [modeKey]: mode, [tokenKey]: publicToken },
    })
    return { id: String(id), publicToken }
  }

  const askNative = (assistantId: string, token?: string) =>
    apiClient(service.url, token).call('POST', '/public/runs/stream', {
      assistant_id: assistantId,
      input: [{ type: 'human', content: 'hi' }],
    })
  const askCompat = (token: string) =>
    apiClient(service.url, token).call('POST', '/public/compat/v1/chat/completions', {
      model: 'any',
      messages: [{ role: 'user', content: 'hi' }],
    })

  it('finds a user by exact e-mail address or id, with quota, usage and runs', async () => {
    const user = await insertUser(service)
    const { assistant_id: assistantId } = await user.post('/assistants/', { name: 'A' })
    const { thread_id: threadId } = await user.post('/threads/', { assistant_id: assistantId })
    const streamed = await user.fetch('POST', '/runs/stream', {
      thread_id: threadId,
      assistant_id: assistantId,
      input: [{ type: 'human', content: 'a secret question' }],
    })
    await streamed.text()
    const { status, body, text } = await admin('GET', `/admin/users?email=${user.email.toUpperCase()}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      user: { user_id: user.userId, email: user.email, thread_counter: 1 },
      thread_max: 100,
      thread_max_base: 100,
      suspended_at: null,
      usage: { runs: 1, assistants: 1 },
      recent_runs: [{ thread_id: threadId, status: 'success', error_type: null }],
      purchases: [],
    })
    expect(text).not.toContain('secret')
    expect((await admin('GET', `/admin/users?user_id=${user.userId}`)).body).toEqual(body)
    expect((await admin('GET', `/admin/users?email=${user.email.slice(0, -1)}`)).status).toBe(404)
    expect((await admin('GET', '/admin/users?email=.*@.*')).status).toBe(404)
    expect((await admin('GET', '/admin/users')).status).toBe(422)
    expect((await admin('GET', `/admin/users?email=${user.email}&user_id=${user.userId}`)).status).toBe(422)
  })

  it('sets the thread quota, and deletes no thread when it is lowered', async () => {
    const user = await insertUser(service)
    await user.post('/threads/', {})
    const path = `/admin/users/${user.userId}/thread-max`
    expect((await admin('PUT', path, { thread_max: 0 })).body).toMatchObject({ thread_max: 0, thread_max_base: 0 })
    await user.post('/threads/', {}, 403)
    expect(await user.get('/auth/thread-info')).toEqual({ thread_counter: 1, thread_max: 0 })
    await admin('PUT', path, { thread_max: 2 })
    await user.post('/threads/', {})
    await user.post('/threads/', {}, 403)
    expect((await admin('PUT', path, { thread_max: -1 })).status).toBe(422)
    expect((await admin('PUT', `/admin/users/${newId()}/thread-max`, { thread_max: 1 })).status).toBe(404)
  })

  it('keeps the quota of a plan when the quota without plans is changed', async () => {
    const user = await insertUser(service)
    const now = new Date()
    const plan = { user_id: user.userId, request_id: newId(), price_id: 'p', thread_max: 50, looks: 0 }
    await service.collections.purchases.create({
      ...plan,
      _id: `cs_${newId()}`,
      status: 'active',
      created_at: now,
      updated_at: now,
    })
    const path = `/admin/users/${user.userId}/thread-max`
    expect((await admin('PUT', path, { thread_max: 3 })).body).toMatchObject({ thread_max: 50, thread_max_base: 3 })
  })

  it('refuses every token, login and public caller of a suspended user until it is restored', async () => {
    const user = await signUpUser(service)
    const bystander = await insertUser(service)
    const pinned = await insertUser(service)
    const open = await publish({ ...pinned, ...user } as TestUser, 'public_token')
    const opener = await publish({ ...pinned, ...user } as TestUser, 'public_no_auth')
    const other = await publish(bystander, 'public_token')
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

    const { status, body } = await suspend(user)
    expect(status).toBe(200)
    expect(body).toMatchObject({ suspension_reason: 'spam' })
    expect(Date.parse(body.suspended_at)).toBeLessThanOrEqual(Date.now())

    for (const path of ['/user/', '/projects/', '/threads/', '/assistants/', `/assistants/${open.id}`, '/auth/me'])
      expect((await user.call('GET', path)).status, path).toBe(403)
    expect((await user.call('GET', `/receipts/${receiptId}`)).status).toBe(403)
    const login = await apiClient(service.url).call('POST', '/auth/login', {
      email: user.email,
      password: goodPassword,
    })
    expect(login.status).toBe(403)
    expect(login.body.detail).toContain('suspended')
    const wrong = await apiClient(service.url).call('POST', '/auth/login', {
      email: user.email,
      password: 'not this one',
    })
    expect(wrong.status).toBe(401)
    expect((await askCompat(open.publicToken)).status).toBe(401)
    expect((await askNative(open.id, open.publicToken)).status).toBe(403)
    expect((await askNative(opener.id)).status).toBe(403)
    expect((await apiClient(service.url).get('/assistants/public/')).map((one: any) => one.assistant_id)).not.toContain(
      open.id,
    )
    expect((await bystander.call('GET', `/assistants/${open.id}`)).status).toBe(403)
    await bystander.get('/user/')
    expect((await askCompat(other.publicToken)).status).toBe(200)

    const again = await suspend(user)
    expect(again.body.suspended_at).toBe(body.suspended_at)
    expect((await restore(user)).body).toMatchObject({ suspended_at: null, suspension_reason: null })
    await user.get('/user/')
    expect((await askCompat(open.publicToken)).status).toBe(200)
    expect((await askNative(opener.id)).status).toBe(200)
    await user.post('/assistants/', { name: 'new' })
    expect((await suspend({ userId: newId() })).status).toBe(404)
  })

  it('cancels open runs, private and public, and no runs of other users', async () => {
    const [user, bystander] = [await insertUser(service), await insertUser(service)]
    const silence = Promise.withResolvers<void>()
    const replies = [1, 2, 3].map(() => service.model.reply({ after: silence.promise, text: ['late'] }))
    const start = async (who: TestUser) => {
      const { assistant_id: assistantId } = await who.post('/assistants/', { name: 'A' })
      const { thread_id: threadId } = await who.post('/threads/', {})
      const input = [{ type: 'human', content: 'hi' }]
      return who.post('/runs/', { thread_id: threadId, assistant_id: assistantId, input })
    }
    const own = await start(user)
    const others = await start(bystander)
    const open = await publish(user, 'public_token')
    const publicAnswer = askCompat(open.publicToken)
    await Promise.all(replies.map(({ arrived }) => arrived))
    await suspend(user)
    const statuses = await service.collections.runs.find({ user_id: user.userId }, { status: 1 }).lean()
    expect(statuses.map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
    expect((await publicAnswer).status).toBeGreaterThanOrEqual(400)
    silence.resolve()
    await expect
      .poll(async () => (await bystander.get(`/runs/${others.run_id}`)).status, { timeout: 20_000 })
      .toBe('success')
    await restore(user)
    expect((await user.get(`/runs/${own.run_id}`)).status).toBe('cancelled')
  })

  it('refuses a creation that was admitted just before the suspension', async () => {
    const user = await insertUser(service)
    await suspend(user)
    const place = { userId: user.userId, projectId: user.projectId }
    await expect(service.api.services.assistants.createUnder(place, newId(), { name: 'late' })).rejects.toThrow(
      'not available',
    )
  })

  it('returns users, runs, failures, tokens and time to first token for each day', async () => {
    const { body } = await admin('GET', '/admin/activity?days=3')
    expect(body.days).toHaveLength(3)
    const today = body.days.at(-1)
    expect(today.date).toBe(new Date().toISOString().slice(0, 10))
    expect(today.new_users).toBeGreaterThan(5)
    expect(today.runs).toBeGreaterThan(2)
    expect(today.total_tokens).toBeGreaterThan(0)
    expect(today.first_token_ms).toBeGreaterThan(0)
    expect(body.days[0]).toMatchObject({ runs: 0, failed_runs: 0, total_tokens: 0 })
    expect((await admin('GET', '/admin/activity?days=91')).status).toBe(422)
  })

  it('returns workers and backlog of each queue', async () => {
    const { status, body } = await admin('GET', '/admin/queues')
    expect(status).toBe(200)
    expect(body.queues.filter((queue: any) => queue.kind === 'workflow').map((queue: any) => queue.queue)).toEqual([
      'runs',
      'documents',
      'accounts',
      'deletions',
      'schedules',
      'crawls',
    ])
    for (const queue of body.queues) expect(queue.pollers, `${queue.queue} ${queue.kind}`).toBeGreaterThan(0)
    expect(body.queues[0].backlog).toBeGreaterThanOrEqual(0)
  })

  it('lists running ingestions without file names', async () => {
    const user = await insertUser(service)
    const { assistant_id: assistantId } = await user.post('/assistants/', { name: 'A' })
    const now = new Date()
    const file = {
      assistant_id: String(assistantId),
      user_id: user.userId,
      ingestion_id: newId(),
      name: 'salaries.txt',
      content_type: 'text/plain',
      size: 10,
      sha256: 'x',
      blob_id: newId(),
      ...unprocessed,
      created_at: now,
      updated_at: now,
    }
    await service.collections.files.create([
      { ...file, _id: newId(), order: 0, status: 'ready' },
      { ...file, _id: newId(), order: 1, status: 'processing' },
      { ...file, _id: newId(), order: 2, status: 'queued' },
    ])
    const { body, text } = await admin('GET', '/admin/ingestions')
    expect(body.ingestions).toEqual([
      expect.objectContaining({ user_id: user.userId, files: 2, bytes: 20, by_status: { processing: 1, queued: 1 } }),
    ])
    expect(text).not.toContain('salaries')
  })
})
