import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { createIdempotency } from '../../services/idempotency.ts'
import { createRequestHashes, createSecretBox } from '../../services/secrets.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { conversation } from '../runs/support.ts'
import { type Answer, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { startApiProcess } from '../support/processes.ts'
import { allEvents } from '../support/sse.ts'
import { goodPassword, insertUser, newEmail } from '../support/users.ts'

const compat = '/public/compat/v1'
const header = (key: string) => ({ 'idempotency-key': key })
const human = [{ type: 'human', content: 'Hello' }]

describe('a request with an Idempotency-Key', () => {
  const service = useModelService({ respond: () => ({ text: 'Answered.' }) })

  /** Lets every attempt under way be taken for dead, as time does. */
  const endLeases = () => service.collections.idempotencyKeys.updateMany({}, { $set: { leased_until: new Date(0) } })

  const newIdempotency = (secretsKey = randomBytes(32), previous: Buffer[] = []) =>
    createIdempotency(
      service.collections,
      createSecretBox(secretsKey, previous),
      createRequestHashes(secretsKey, previous),
    )

  it('takes effect once and gets the same answer, on every route that creates something', async () => {
    const owner = await insertUser(service)
    const talk = await conversation(service)
    const open = await newPublicAssistant(service)
    const caller = apiClient(service.url, open.token)
    const anybody = apiClient(service.url)
    const thread = await caller.post(`${compat}/threads`, {})
    const run = await talk.client.post('/runs/', talk.payload('First'))
    const { collections } = service
    const requests: { path: string; body: unknown; client: typeof caller; count: () => PromiseLike<number> }[] = [
      {
        path: '/auth/signup',
        body: { email: newEmail(), password: goodPassword },
        client: anybody,
        count: () => collections.users.countDocuments({}),
      },
      {
        path: '/projects/',
        body: { name: 'Once' },
        client: owner,
        count: () => collections.projects.countDocuments({}),
      },
      {
        path: '/assistants/',
        body: { name: 'Once', config: { 'a.b': [1, { $x: null }] } },
        client: owner,
        count: () => collections.assistants.countDocuments({}),
      },
      { path: '/threads/', body: { name: 'Once' }, client: owner, count: () => collections.threads.countDocuments({}) },
      {
        path: `/threads/${talk.threadId}/state`,
        body: { values: human },
        client: talk.client,
        count: () => collections.checkpoints.countDocuments({ source: 'update' }),
      },
      {
        path: '/runs/',
        body: talk.payload('Once'),
        client: talk.client,
        count: () => collections.runs.countDocuments({}),
      },
      {
        path: '/runs/feedback',
        body: { run_id: run.run_id, key: 'helpful', score: 1 },
        client: talk.client,
        count: () => collections.feedback.countDocuments({}),
      },
      {
        path: `${compat}/threads`,
        body: { messages: [{ role: 'user', content: 'Hello' }] },
        client: caller,
        count: () => collections.threads.countDocuments({}),
      },
      {
        path: `${compat}/threads/${thread.id}/messages`,
        body: { role: 'user', content: 'Hello' },
        client: caller,
        count: () => collections.checkpoints.countDocuments({ thread_id: thread.id }),
      },
      {
        path: `${compat}/threads/${thread.id}/runs`,
        body: { assistant_id: open.id },
        client: caller,
        count: () => collections.runs.countDocuments({}),
      },
      {
        path: `${compat}/threads/runs`,
        body: { assistant_id: open.id, thread: { messages: [{ role: 'user', content: 'Hello' }] } },
        client: caller,
        count: () => collections.runs.countDocuments({}),
      },
      {
        path: `${compat}/chat/completions`,
        body: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
        client: caller,
        count: () => collections.runs.countDocuments({}),
      },
    ]
    for (const { path, body, client, count } of requests) {
      const key = newId()
      const before = await count()
      const first = await client.call('POST', path, body, header(key))
      expect(`${path} ${first.status}`).toBe(`${path} 200`)
      expect(first.headers.get('idempotent-replayed')).toBeNull()
      const second = await client.call('POST', path, body, header(key))
      expect(`${path} ${second.status} ${second.text}`).toBe(`${path} 200 ${first.text}`)
      expect(second.headers.get('idempotent-replayed')).toBe('true')
      expect(second.headers.get('content-location')).toBe(first.headers.get('content-location'))
      expect(`${path} ${(await count()) - before}`).toBe(`${path} 1`)
    }
  })

  it('creates one new public token', async () => {
    const open = await newPublicAssistant(service)
    const owner = open.owner
    const key = newId()
    const first = await owner.call('POST', `/assistants/${open.id}/public-token`, undefined, header(key))
    const second = await owner.call('POST', `/assistants/${open.id}/public-token`, undefined, header(key))
    expect(second.text).toBe(first.text)
    expect((await owner.get(`/assistants/${open.id}`)).config['type==agent/public_token']).toBe(first.body.public_token)
    const stored = await service.collections.idempotencyKeys.find({ subjects: open.id }).lean()
    expect(JSON.stringify(stored)).not.toContain(first.body.public_token)
  })

  it('stores nothing by which the password of a sign-up can be guessed, not even with the key of the service', async () => {
    const { idempotencyKeys, users } = service.collections
    const anybody = apiClient(service.url)
    const recordOf = async (password: string) => {
      const email = newEmail()
      const key = newId()
      const body = { email, password }
      const first = await anybody.call('POST', '/auth/signup', body, header(key))
      expect(first.status).toBe(200)
      const record = await idempotencyKeys.findOne({ subjects: first.body.user_id }).lean()
      return { body, key, first, record }
    }
    const { body, key, first, record } = await recordOf(goodPassword)
    const guesses = [body, { email: body.email }].map((asked) => plainHash(['POST', '/auth/signup', asked]))
    expect(record?.fingerprint).toMatch(/^[\w-]{43}$/)
    expect(guesses).not.toContain(record?.fingerprint)
    // Whatever is derived from the request is the same for every password.
    const other = await anybody.call('POST', '/auth/signup', { ...body, password: `other ${newId()}` }, header(key))
    expect({ status: other.status, text: other.text }).toEqual({ status: 200, text: first.text })
    expect(await users.countDocuments({ email: body.email })).toBe(1)
    // What else is in the body is compared.
    const named = await anybody.call('POST', '/auth/signup', { ...body, first_name: 'Ada' }, header(key))
    expect(named.status).toBe(422)
  })

  it('knows requests under a previous key of the service', async () => {
    const owner = await insertUser(service)
    const [old, current] = [randomBytes(32), randomBytes(32)]
    const asked = { caller: 'user', key: newId(), request: ['POST', 'Once'], subjects: [owner.userId] }
    const begun = await newIdempotency(old).acquire(asked)
    if ('attempt' in begun) await begun.attempt.answer({ status: 200, body: '{}', headers: {} }, [])
    expect(await newIdempotency(current, [old]).acquire(asked)).toHaveProperty('answer')
    await expect(newIdempotency(current).acquire(asked)).rejects.toMatchObject({ code: 'invalid_input' })
  })

  it("returns 422 with another body or on another route, and is independent of other callers' keys", async () => {
    const owner = await insertUser(service)
    const other = await insertUser(service)
    const key = newId()
    await owner.call('POST', '/threads/', { name: 'A' }, header(key))
    const loc = ['header', 'idempotency-key']
    for (const [path, body] of [
      ['/threads/', { name: 'B' }],
      ['/projects/', { name: 'A' }],
    ] as const) {
      const refused = await owner.call('POST', path, body, header(key))
      expect(refused.status).toBe(422)
      expect(refused.body.detail).toEqual([expect.objectContaining({ loc, type: 'idempotency_key_reused' })])
    }
    const theirs = await other.call('POST', '/threads/', { name: 'B' }, header(key))
    expect(theirs.status).toBe(200)
    const odd = await owner.call('POST', '/threads/', { name: 'C' }, header('two words'))
    expect(odd.status).toBe(422)
    expect(odd.body.detail[0].loc).toEqual(loc)
    expect(await service.collections.threads.countDocuments({ user_id: owner.userId })).toBe(1)
  })

  it('creates one record in 32 simultaneous requests; the others get 409 or the same answer', async () => {
    const owner = await insertUser(service)
    const key = newId()
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => owner.call('POST', '/threads/', { name: 'Once' }, header(key))),
    )
    const accepted = answers.filter(({ status }) => status === 200)
    expect(new Set(accepted.map(({ text }) => text)).size).toBe(1)
    for (const refused of answers.filter(({ status }) => status !== 200)) {
      expect(refused.status).toBe(409)
      expect(refused.headers.get('retry-after')).toBe('1')
    }
    expect(await service.collections.threads.countDocuments({ user_id: owner.userId })).toBe(1)
  })

  it('can be repeated after a refusal that had no effect', async () => {
    const owner = await insertUser(service)
    const key = newId()
    const invalid = await owner.call('POST', '/projects/', { name: '' }, header(key))
    expect(invalid.status).toBe(400)
    expect((await owner.call('POST', '/projects/', { name: 'Good' }, header(key))).status).toBe(200)

    const gone = newId()
    const missing = await owner.call('POST', `/threads/${gone}/state`, { values: human }, header(gone))
    expect(missing.status).toBe(404)
    await owner.put(`/threads/${gone}`, { name: 'Now it is there' })
    const again = await owner.call('POST', `/threads/${gone}/state`, { values: human }, header(gone))
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, null])
  })

  it('is executed when the quota that refused it has grown', async () => {
    const { users } = service.collections
    const full = await insertUser(service, { threadMax: 0 })
    const key = newId()
    const send = () => full.call('POST', '/threads/', { name: 'One more' }, header(key))
    expect((await send()).status).toBe(403)
    expect((await send()).status).toBe(403)
    await users.updateOne({ _id: full.userId }, { $set: { thread_max: 1 } })
    expect((await send()).status).toBe(200)
  })

  it('is another request in another project', async () => {
    const owner = await insertUser(service)
    const { project_id: second } = await owner.post('/projects/', { name: 'Second' })
    const { jwt_token: token } = await owner.get(`/projects/${second}`)
    const key = newId()
    const made = await owner.call('POST', '/threads/', { name: 'Once' }, header(key))
    const other = await apiClient(service.url, String(token)).call('POST', '/threads/', { name: 'Once' }, header(key))
    expect([made.body.project_id, other.body.project_id]).toEqual([owner.projectId, second])
    expect(other.headers.get('idempotent-replayed')).toBeNull()
  })

  it('follows the run of the first request when the answer is a stream', async () => {
    const talk = await conversation(service)
    const key = newId()
    const stream = async () =>
      allEvents(await talk.client.fetch('POST', '/runs/stream', talk.payload('Once'), header(key)))
    const first = await stream()
    const second = await stream()
    expect(first.at(-1)?.event).toBe('end')
    expect(second[1]).toEqual(first[1])
    expect(second.at(-1)).toEqual(first.at(-1))
    expect(second.findLast(({ event }) => event === 'data')?.data).toContain('Answered.')
    expect(await service.collections.runs.countDocuments({ thread_id: talk.threadId })).toBe(1)
  })

  it('stores an upload once, and returns 422 for other files', async () => {
    const owner = await insertUser(service)
    const { assistant_id: aid } = await owner.post('/assistants/', { name: 'Reader' })
    const key = newId()
    const upload = (...texts: string[]) => {
      const form = new FormData()
      for (const [index, text] of texts.entries()) form.append('files', new Blob([text]), `${index}.txt`)
      return owner.call('POST', `/assistants/${aid}/files`, form, header(key))
    }
    const first = await upload('one', 'two')
    expect(first.status).toBe(200)
    expect((await upload('one', 'two')).body).toEqual(first.body)
    for (const other of [['one', 'three'], ['one'], ['one', 'two', 'three']]) {
      const refused = await upload(...other)
      expect(refused.status).toBe(422)
      expect(refused.body.detail[0]).toMatchObject({ loc: ['header', 'idempotency-key'] })
    }
    expect((await upload('one', 'two')).body).toEqual(first.body)
    expect(await service.collections.files.countDocuments({ assistant_id: aid })).toBe(2)
    expect(await service.collections.idempotencyKeys.findOne({ subjects: aid }).lean()).toMatchObject({
      ids: [first.body.ingestion_id],
    })
  })

  it('returns 409 while the first request is under way, and continues on another process when its API process is killed', async () => {
    const open = await newPublicAssistant(service)
    const gate = Promise.withResolvers<void>()
    service.model.reply({ text: ['Begun, ', gate.promise, 'ended.'] })
    const key = newId()
    const body = { model: 'm', messages: [{ role: 'user', content: 'Go' }] }
    const ask = (url: string) =>
      apiClient(url, open.token).call('POST', `${compat}/chat/completions`, body, header(key))

    const dying = await startApiProcess(service.env)
    const broken = ask(dying.url).catch((error: unknown) => error)
    await eventually('the run to begin', async () => {
      const run = await service.collections.runs.findOne({ assistant_id: open.id }).lean()
      return run?.status === 'running'
    })
    const early = await ask(service.url)
    expect(early.status).toBe(409)
    expect(early.body.error.code).toBe('conflict')
    await dying.kill()
    expect(await broken).toBeInstanceOf(Error)
    await endLeases()
    const resumed = ask(service.url)
    gate.resolve()
    const answer = (await resumed) satisfies Answer
    expect(answer.body.choices[0].message.content).toBe('Begun, ended.')
    expect((await ask(service.url)).text).toBe(answer.text)
    expect(await service.collections.runs.countDocuments({ assistant_id: open.id })).toBe(1)
  })

  it('continues to wait for the run when the client disconnects and repeats the request', async () => {
    const open = await newPublicAssistant(service)
    const gate = Promise.withResolvers<void>()
    const reply = service.model.reply({ text: ['Begun, ', gate.promise, 'ended.'] })
    const key = newId()
    const body = { model: 'm', messages: [{ role: 'user', content: 'Go' }] }
    const client = apiClient(service.url, open.token)
    const leaving = new AbortController()
    const left = fetch(`${service.url}${compat}/chat/completions`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${open.token}`, 'content-type': 'application/json', ...header(key) },
      body: JSON.stringify(body),
    }).catch((error: unknown) => error)
    await reply.arrived
    leaving.abort()
    expect(await left).toBeInstanceOf(Error)
    gate.resolve()
    const answer = await eventually('the answer', async () => {
      const found = await client.call('POST', `${compat}/chat/completions`, body, header(key))
      return found.status !== 409 && found
    })
    expect(answer).toMatchObject({ status: 200, body: { choices: [{ message: { content: 'Begun, ended.' } }] } })
    expect(await service.collections.runs.countDocuments({ assistant_id: open.id })).toBe(1)
  })

  it('takes effect once although its process stood still until another took over', { timeout: 60_000 }, async () => {
    const owner = await insertUser(service)
    const { assistant_id: aid } = await owner.post('/assistants/', { name: 'Reader' })
    const { idempotencyKeys, files } = service.collections
    const key = newId()
    const upload = (url: string, held?: Promise<void>) =>
      fetch(`${url}/assistants/${aid}/files?wait=false`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${owner.token}`,
          ...header(key),
          'content-type': 'multipart/form-data; boundary=x',
        },
        body: (async function* parts() {
          yield Buffer.from('--x\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\none')
          await held
          yield Buffer.from('\r\n--x--\r\n')
        })(),
        duplex: 'half',
      })
    const slow = await startApiProcess(service.env)
    const gate = Promise.withResolvers<void>()
    const first = upload(slow.url, gate.promise)
    await eventually('the upload to begin', async () => (await files.exists({ assistant_id: aid })) !== null)
    slow.pause()
    const over = () => idempotencyKeys.countDocuments({ subjects: aid, leased_until: { $lt: new Date() } })
    await eventually('the lease to end', async () => (await over()) === 1, 30_000)
    const second = await upload(service.url)
    expect(second.status).toBe(200)
    gate.resolve()
    slow.resume()
    const late = await first
    expect({ status: late.status, retryAfter: late.headers.get('retry-after') }).toEqual({
      status: 409,
      retryAfter: '1',
    })
    const { ingestion_id: ingestionId } = (await second.json()) as { ingestion_id: string }
    expect(await files.distinct('ingestion_id', { assistant_id: aid })).toEqual([ingestionId])
    const repeated = await upload(service.url)
    expect(await repeated.json()).toMatchObject({ ingestion_id: ingestionId })
    await slow.stop()
  })

  it('names no deleted record, even if its answer was never stored', async () => {
    const owner = await insertUser(service)
    const { idempotencyKeys } = service.collections
    const { acquire } = newIdempotency()
    const begun = await acquire({ caller: 'user', key: newId(), request: ['POST'], subjects: [owner.userId] })
    const threadId = 'id' in begun ? begun.id : ''
    expect((await owner.call('PUT', `/threads/${threadId}`, { name: 'A' })).status).toBe(200)
    expect(await idempotencyKeys.countDocuments({ ids: threadId })).toBe(1)
    await owner.delete(`/threads/${threadId}`)
    expect(await idempotencyKeys.countDocuments({ ids: threadId })).toBe(0)
  })

  it('goes with the thread of its run, even if the API process died before it noted the thread', async () => {
    const talk = await conversation(service)
    const { idempotencyKeys, runs, receipts } = service.collections
    const { acquire } = newIdempotency()
    const begun = await acquire({ caller: 'user', key: newId(), request: ['POST'], subjects: [talk.client.userId] })
    const runId = 'id' in begun ? begun.id : ''
    await talk.stream('Hello')
    const known = await runs.findOne({ thread_id: talk.threadId }).lean()
    await runs.insertMany([{ ...known, _id: runId }])
    await talk.client.delete(`/threads/${talk.threadId}`)
    expect(await idempotencyKeys.countDocuments({ ids: runId })).toBe(0)
    expect(await receipts.findOne({ subject_id: talk.threadId }).lean()).toMatchObject({
      status: 'complete',
      found: { idempotency_keys: 1 },
    })
  })

  it('loses its stored answer when the record in it is deleted', async () => {
    const talk = await conversation(service)
    const key = newId()
    const state = `/threads/${talk.threadId}/state`
    await talk.client.call('POST', state, { values: human }, header(key))
    const { idempotencyKeys } = service.collections
    expect(await idempotencyKeys.countDocuments({ subjects: talk.threadId })).toBe(1)
    await talk.client.delete(`/threads/${talk.threadId}`)
    expect(await idempotencyKeys.countDocuments({ subjects: talk.threadId })).toBe(0)
    expect((await talk.client.call('POST', state, { values: human }, header(key))).status).toBe(404)
  })
})

/** The hash of a request without the key of the service. */
function plainHash([method, url, body]: [string, string, unknown]): string {
  const sum = createHash('sha256')
  for (const part of [method, url, JSON.stringify(body)]) sum.update(`${part.length}:`).update(part)
  return sum.digest('base64url')
}
