import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { dayOf } from '../../domain/records/budget.ts'
import { createArchiveReader } from '../../infra/archives/read-archive.ts'
import { conversation } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { archiveOf, fetchLink, importInto, lines, linesIn, manifest, member, whole } from '../support/archives.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useModelService } from '../support/model-service.ts'
import { watchProcessor } from '../support/slowness.ts'
import { tarEnd } from '../support/tar.ts'
import { insertUser } from '../support/users.ts'

const megabyte = 1024 * 1024
const created_at = '2026-01-01T00:00:00.000Z'
const project = { project_id: 'p', name: 'P', description: '', created_at }
const thread = {
  thread_id: 't',
  project_id: 'p',
  name: 'T',
  public: false,
  metadata: {},
  created_at,
  updated_at: created_at,
}
const assistant = { assistant_id: 'a', project_id: 'p', name: 'A', config: {}, created_at }
const run = { run_id: 'r', thread_id: 't', assistant_id: 'a', status: 'success', input: [], created_at }

describe('an import', () => {
  const service = useModelService({
    respond: () => ({ text: 'An answer.' }),
    settings: { archivesAtOnce: 2, importDayMaxMb: 500 },
  })
  const admin = (method: string, path: string, body?: object) =>
    apiClient(service.url, service.env['ADMIN_TOKEN']).call(method, path, body)

  /** Text of 15 MB whose parsing takes seconds, with random words in it, so that it does not shrink too much. */
  const emptyLists = (perWord: number) => {
    const parts: string[] = []
    for (let bytes = 0; bytes < 15 * megabyte; bytes += 3 * perWord + 200)
      parts.push(`"${randomBytes(128).toString('base64')}"`, ...Array.from({ length: perWord }, () => '[]'))
    return parts.join(',')
  }

  it('of lists in lists does not delay others, and is refused', async () => {
    const [user, bystander] = [await insertUser(service), await insertUser(service)]
    const text = emptyLists(5000)
    const archive = gzipSync(
      Buffer.concat([manifest, member('feedback-00001.jsonl', `[${text}]\n[${text}]\n`), tarEnd]),
    )
    expect(archive.length).toBeLessThan(3 * megabyte)
    const took = watchProcessor()
    const importing = importInto(service, user, new Uint8Array(archive))
    expect((await bystander.call('GET', '/projects/')).status).toBe(200)
    const answer = await importing
    expect(answer.status).toBe(422)
    expect(JSON.stringify(answer.body)).toMatch(/holds more than 200,000 objects and arrays/)
    // The same text was parsed and measured in this thread before: 3.4 seconds a line.
    expect(took()).toBeLessThan(1000)
  })

  it('of lines that are only just allowed does not delay others either', async () => {
    const [user, bystander] = [await insertUser(service), await insertUser(service)]
    const lists = `[${Array.from({ length: 190_000 }, () => '[]').join(',')}]`
    const line = (index: number) =>
      `{"feedback_id":"f${index}","run_id":"r","key":"k","value":{"value":[${lists},"${randomBytes(20_000).toString('base64')}"]},"created_at":"${created_at}"}\n`
    const archive = whole(member('feedback-00001.jsonl', Array.from({ length: 5 }, (_, index) => line(index)).join('')))
    const took = watchProcessor()
    const importing = importInto(service, user, new Uint8Array(archive))
    expect((await bystander.call('GET', '/projects/')).status).toBe(200)
    const { status, body } = await importing
    expect([status, body.refused.feedback]).toEqual([200, 5])
    expect(took()).toBeLessThan(1000)
  })

  it.each([
    ['a line is too long', () => `{"a":"${'x'.repeat(16 * megabyte)}"}\n`, /one of its lines is too long/],
    ['a line nests too deeply', () => `${'['.repeat(80)}${']'.repeat(80)}\n`, /nests deeper than 74 levels/],
    ['a line has too many members', () => `[${'0,'.repeat(1_000_001)}0]\n`, /holds more than 1,000,000 members/],
  ])('is refused when %s', async (_case, text, words) => {
    const user = await insertUser(service)
    const { status, body } = await importInto(
      service,
      user,
      new Uint8Array(whole(member('projects-00001.jsonl', `${lines(project)}${text()}`))),
    )
    expect(status).toBe(422)
    expect(JSON.stringify(body)).toMatch(words)
    // What came before stays.
    expect(await service.collections.projects.countDocuments({ user_id: user.userId })).toBe(2)
  })

  it('ends its thread on abort, without progress, and when it takes too much memory', async () => {
    const packed = (...records: object[]) =>
      (async function* () {
        yield* [whole(member('projects-00001.jsonl', lines(...records)))]
      })()
    const words = { ...project, words: Array.from({ length: 900_000 }, (_, index) => `word ${index}`) }
    const options = { maxMb: 100, userId: 'u', onProgress: () => Promise.resolve() }
    const never = new AbortController().signal
    const read = async (
      reader: ReturnType<typeof createArchiveReader>,
      signal: AbortSignal,
      source = packed(project),
    ) => Array.fromAsync(reader(source, { ...options, signal }))
    expect(await read(createArchiveReader(), never)).toMatchObject([{ kind: 'projects', id: 'p' }])
    await expect(read(createArchiveReader({ silenceMs: 1 }), never)).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(read(createArchiveReader({ memoryMb: 32 }), never, packed(words))).rejects.toThrow(/too much memory/)
    expect(await read(createArchiveReader(), never, packed(words))).toMatchObject([{ kind: 'projects', id: 'p' }])
    const stop = new AbortController()
    const endless = (async function* () {
      yield gzipSync(manifest).subarray(0, 20)
      stop.abort(new Error('the client has gone'))
      await new Promise(() => undefined)
    })()
    await expect(read(createArchiveReader(), stop.signal, endless)).rejects.toThrow('the client has gone')
  })

  it('counts public threads in the quota, and gives their places back', async () => {
    const user = await insertUser(service, { threadMax: 3 })
    const threads = Array.from({ length: 8 }, (_, index) => ({
      ...thread,
      thread_id: `t${index}`,
      public: true,
      assistant_id: 'a',
    }))
    const archive = whole(
      member('projects-00001.jsonl', lines(project)),
      member('assistants-00001.jsonl', lines(assistant)),
      member('threads-00001.jsonl', lines(...threads)),
    )
    const { body } = await importInto(service, user, new Uint8Array(archive))
    expect([body.imported.threads, body.refused.threads]).toEqual([3, 5])
    expect(body.problems[0]).toMatchObject({ kind: 'threads', reason: expect.stringContaining('as many chats') })
    expect((await user.get('/auth/thread-info')).thread_counter).toBe(3)
    const { assistants, threads: stored } = service.collections
    const [one] = await stored.find({ user_id: user.userId }).lean()
    expect(one?.public).toBe(true)
    expect((await user.call('DELETE', `/threads/${one?._id}`)).status).toBe(200)
    expect((await user.get('/auth/thread-info')).thread_counter).toBe(2)
    const imported = await assistants.findOne({ user_id: user.userId }).lean()
    expect((await user.call('DELETE', `/assistants/${imported?._id}`)).status).toBe(200)
    expect((await user.get('/auth/thread-info')).thread_counter).toBe(0)
  })

  it('stays out of the figures of operators, of the usage and of budgets, with numbers of tokens that are bounded', async () => {
    const user = await insertUser(service)
    const before = await admin('GET', '/admin/system-stats')
    const usage = { prompt_tokens: 1.7e308, completion_tokens: -5, total_tokens: 1.7e308 }
    const now = new Date().toISOString()
    const archive = whole(
      member('projects-00001.jsonl', lines(project)),
      member('assistants-00001.jsonl', lines(assistant)),
      member('threads-00001.jsonl', lines(thread)),
      member(
        'messages-00001.jsonl',
        lines({
          thread_id: 't',
          seq: 1,
          source: 'step',
          run_id: 'r',
          step: 1,
          messages: [{ type: 'AIMessage', data: { id: 'm', content: 'x', usage } }],
          created_at,
        }),
      ),
      member(
        'runs-00001.jsonl',
        lines(
          { ...run, run_id: newId(), usage, model: 'm', created_at: now },
          {
            ...run,
            run_id: newId(),
            usage,
            usage_by_model: [{ ...usage, model: 'm' }],
            status: 'error',
            created_at: now,
          },
        ),
      ),
    )
    expect((await importInto(service, user, new Uint8Array(archive))).body.imported).toMatchObject({
      runs: 2,
      messages: 1,
    })
    const bounded = { prompt_tokens: 1_000_000_000, completion_tokens: 0, total_tokens: 1_000_000_000 }
    const stored = await service.collections.runs.find({ user_id: user.userId }).lean()
    expect(stored.map((one) => one.usage)).toEqual([bounded, bounded])
    expect((await admin('GET', '/admin/system-stats')).body.runs).toEqual(before.body.runs)
    const days = (await admin('GET', '/admin/activity?days=2')).body.days
    for (const day of days) expect(day.total_tokens).toBeLessThan(1_000_000)
    expect(await user.get('/user/usage')).toMatchObject({ runs: 0, total_tokens: 0, cost: 0, threads: [], days: [] })
    const budget = await user.call('PUT', `/assistants/${stored[0]?.assistant_id}/budget`, { runs: 1 })
    expect(budget.body.used).toEqual({ runs: 0, tokens: 0, money: 0 })
    const [entry] = await service.collections.checkpoints.find({ thread_id: stored[0]?.thread_id ?? '' }).lean()
    expect(JSON.parse(entry?.messages_json ?? '')[0].data.usage).toEqual(bounded)
  })

  it('is refused beyond the bytes of a day, which every import counts', async () => {
    const user = await insertUser(service)
    const noise = member('user.json', JSON.stringify({ text: randomBytes(20_000).toString('base64') }))
    const archive = new Uint8Array(whole(noise))
    expect((await importInto(service, user, archive)).status).toBe(200)
    const read = async () => (await service.collections.users.findById(user.userId).lean())?.imports
    expect(await read()).toEqual({ day: dayOf(new Date()), bytes: gunzipSync(archive).length })
    // Refused ones too.
    expect((await importInto(service, user, archive.slice(0, -100))).status).toBe(422)
    expect((await read())?.bytes).toBeGreaterThan(gunzipSync(archive).length)
    const full = { day: dayOf(new Date()), bytes: 500 * megabyte }
    await service.collections.users.updateOne({ _id: user.userId }, { $set: { imports: full } })
    const refused = await importInto(service, user, archive)
    expect(refused.status).toBe(429)
    expect(refused.body.detail).toMatch(/500 MB today/)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    await service.collections.users.updateOne(
      { _id: user.userId },
      { $set: { imports: { ...full, day: '2026-01-01' } } },
    )
    expect((await importInto(service, user, archive)).status).toBe(200)
  })

  it('stops writing when its user is suspended', async () => {
    const user = await insertUser(service)
    const many = Array.from({ length: 400 }, (_, index) => ({
      ...project,
      project_id: `p${index}`,
      name: `P${index}`,
      description: randomBytes(300).toString('base64'),
    }))
    const archive = whole(member('projects-00001.jsonl', lines(...many)))
    const { promise: suspended, resolve: goOn } = Promise.withResolvers<void>()
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(archive.subarray(0, Math.floor(archive.length / 2)))
        await suspended
        controller.enqueue(archive.subarray(Math.floor(archive.length / 2)))
        controller.close()
      },
    })
    const importing = importInto(service, user, body)
    const count = () => service.collections.projects.countDocuments({ user_id: user.userId })
    await expect.poll(count, { timeout: 30_000 }).toBeGreaterThan(1)
    expect((await admin('POST', `/admin/users/${user.userId}/suspend`, { reason: 'spam' })).status).toBe(200)
    const written = await count()
    goOn()
    const { status, body: answer } = await importing
    expect([status, answer.detail]).toEqual([403, expect.stringContaining('suspended')])
    expect(await count()).toBe(written)
  })

  it('of slow accounts does not keep others from importing', async () => {
    const slow = await Promise.all([insertUser(service), insertUser(service)])
    const archive = whole(member('projects-00001.jsonl', lines(project)))
    const drips: NodeJS.Timeout[] = []
    const held = slow.map((user) =>
      importInto(
        service,
        user,
        new ReadableStream({
          start(controller) {
            let place = 20
            controller.enqueue(archive.subarray(0, place))
            drips.push(setInterval(() => controller.enqueue(archive.subarray(place, ++place)), 2000))
          },
        }),
      ).catch(() => ({ status: 0 })),
    )
    const begun = { _id: { $in: slow.map(({ userId }) => userId) }, imports: { $exists: true } }
    await expect.poll(() => service.collections.users.countDocuments(begun), { timeout: 20_000 }).toBe(2)
    const others = await Promise.all([insertUser(service), insertUser(service)])
    const answers = await Promise.all(others.map((user) => importInto(service, user, new Uint8Array(archive))))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const ended = await Promise.all(held)
    drips.forEach((drip) => clearInterval(drip))
    expect(ended.map(({ status }) => status)).toEqual([408, 408])
  })

  it('leaves exports to others when accounts download slowly', { timeout: 180_000 }, async () => {
    const owners = await Promise.all(
      [1, 2].map(async () => {
        const talk = await conversation(service)
        // Random bytes do not shrink: more than what the sockets hold waits for its reader.
        const content = new Uint8Array(randomBytes(24 * megabyte))
        await (await knowledgeClient(talk.client)).upload([{ name: 'noise.bin', content }], '?wait=false')
        return talk.client
      }),
    )
    const unread = await Promise.all(
      owners.map(async (owner) => fetchLink(service, (await owner.post('/user/export')).url)),
    )
    expect(unread.map(({ status }) => status)).toEqual([200, 200])
    const other = await conversation(service)
    await other.stream('A question')
    expect(linesIn(gunzipSync(await archiveOf(service, other.client)), 'runs')).toHaveLength(1)
    for (const { body } of unread) await body?.cancel()
  })
})
