import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerBytes } from '../../domain/answer-budget.ts'
import { newId } from '../../domain/ids.ts'
import { messagesToJson } from '../../domain/messages.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'
import { createAssistantConfigs } from '../../services/assistants/configs.ts'
import { createSecretBox, createTokenHashes } from '../../services/secrets.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { type Answer, type ApiClient, apiClient } from '../support/api-client.ts'
import { type TestService, startService } from '../support/service.ts'
import { type TestUser, insertUser } from '../support/users.ts'

const megabyte = 1_000_000

/** What an answer may hold beside what is counted. */
const slack = 1.5

describe('answers of bounded size', () => {
  let service: TestService
  let user: TestUser
  beforeAll(async () => {
    service = await startService({ worker: false })
    user = await insertUser(service)
  })
  afterAll(() => service.close())

  /** Adds entries of one message each to a thread's log, as the log writes them: `m1`, `m2` … */
  async function fillLog(threadId: string, entries: number, characters: number, run?: string): Promise<void> {
    const content = 'x'.repeat(characters)
    const records = Array.from({ length: entries }, (_, index): CheckpointRecord => {
      const id = `m${index + 1}`
      return {
        _id: newId(),
        thread_id: threadId,
        seq: index + 1,
        messages_json: messagesToJson([
          run === undefined
            ? { type: 'HumanMessage', data: { id, content } }
            : { type: 'AIMessage', data: { id, content } },
        ]),
        source: run === undefined ? 'update' : 'step',
        ...(run === undefined ? {} : { run_id: run, step: index }),
        created_at: new Date(),
      }
    })
    for (let start = 0; start < entries; start += 100)
      await service.collections.checkpoints.insertMany(records.slice(start, start + 100), { lean: true })
    await service.collections.threads.updateOne({ _id: threadId }, { $set: { last_seq: entries } })
  }

  async function newThread(): Promise<string> {
    return String((await user.post('/threads/', {})).thread_id)
  }

  async function addRun(threadId: string, more: object = {}): Promise<string> {
    const id = newId()
    await service.collections.runs.create({
      _id: id,
      thread_id: threadId,
      user_id: user.userId,
      project_id: user.projectId,
      assistant_id: 'a',
      public: false,
      acting: { person: 'owner', origin: 'chat' },
      status: 'success',
      input_json: messagesToJson([{ type: 'HumanMessage', data: { id: newId(), content: 'x'.repeat(megabyte) } }]),
      overrides: {},
      fence: 1,
      created_at: new Date(),
      ...more,
    })
    return id
  }

  /** Follows the header `Link` to the end; each page is held to the budget. */
  async function allPages(client: ApiClient, first: string): Promise<Answer[]> {
    const pages: Answer[] = []
    for (let path: string | undefined = first; path !== undefined;) {
      const answer = await client.call('GET', path)
      expect(answer.status).toBe(200)
      expect(answer.text.length).toBeLessThan(answerBytes * slack)
      pages.push(answer)
      path = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
    }
    return pages
  }

  const idsOf = (messages: { data: { id: string } }[]) => messages.map((message) => message.data.id)

  it('return a history in pages whose states are fifty times the stored size', async () => {
    const entries = 100
    const threadId = await newThread()
    await fillLog(threadId, entries, 13_000)
    const pages = await allPages(user, `/threads/${threadId}/history`)
    expect(pages.length).toBeGreaterThan(5)
    const seen: any[] = pages.flatMap((page) => page.body)
    expect(seen.map((state) => state.metadata.step)).toEqual(Array.from({ length: entries }, (_, i) => entries - i))
    expect(seen.map((state) => state.values.messages.length)).toEqual(seen.map((state) => state.metadata.step))
    expect(seen.map((state) => state.parent_checkpoint_id)).toEqual([
      ...seen.slice(1).map((state) => state.checkpoint_id),
      null,
    ])
  })

  it("do not delay another user's requests while a thread of 64 MB is read", async () => {
    const threadId = await newThread()
    await fillLog(threadId, 640, megabyte / 10)
    let unanswered = 4
    const reads = Array.from({ length: unanswered }, async (_, index) => {
      const { status } = await user.call('GET', `/threads/${threadId}/${index % 2 === 0 ? 'history' : 'state'}`)
      unanswered--
      return status
    })
    const bystander = await insertUser(service)
    for (let request = 0; request < 5; request++) {
      expect((await bystander.call('POST', '/threads/', {})).status).toBe(200)
      expect((await bystander.call('GET', '/threads/')).status).toBe(200)
    }
    expect(unanswered).toBeGreaterThan(0)
    expect(await Promise.all(reads)).toEqual(Array.from({ length: 4 }, () => 200))
  }, 180_000)

  it('show the newest messages of a state, and older ones with before', async () => {
    const threadId = await newThread()
    await fillLog(threadId, 12, megabyte)
    const { body: state, text } = await user.call('GET', `/threads/${threadId}/state`)
    expect(text.length).toBeLessThan(answerBytes * slack)
    expect(idsOf(state.values.messages)).toEqual(['m5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11', 'm12'])
    expect(state.metadata.omitted_messages).toBe(4)
    const earlier = await user.get(`/threads/${threadId}/state?before=m5`)
    expect(idsOf(earlier.values.messages)).toEqual(['m1', 'm2', 'm3', 'm4'])
    expect(earlier.metadata).not.toHaveProperty('omitted_messages')
    expect((await user.get(`/threads/${threadId}/state?before=unknown`)).values.messages).toEqual([])
    expect(await user.get(`/threads/${threadId}/history?limit=1`)).toEqual([state])
  })

  it('show the newest messages of a run, and older ones with before', async () => {
    const threadId = await newThread()
    const runId = await addRun(threadId)
    await fillLog(threadId, 12, megabyte, runId)
    const { body: run, text } = await user.call('GET', `/runs/${runId}`)
    expect(text.length).toBeLessThan(answerBytes * slack)
    expect(idsOf(run.output)).toEqual(['m5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11', 'm12'])
    expect(run.omitted_messages).toBe(4)
    expect(idsOf((await user.get(`/runs/${runId}?before=m5`)).output)).toEqual(['m1', 'm2', 'm3', 'm4'])
  })

  it('page the lists of the compat family', async () => {
    const { id: assistantId, token } = await newPublicAssistant(service)
    const caller = apiClient(service.url, token)
    const base = '/public/compat/v1/threads'
    const { id: threadId } = await caller.post(base, {})
    const instructions = 'x'.repeat(megabyte)
    const last = await addRun(threadId, { assistant_id: assistantId, public: true })
    for (let count = 1; count < 12; count++) {
      await addRun(threadId, { assistant_id: assistantId, public: true, overrides: { instructions } })
    }
    await fillLog(threadId, 12, megabyte, last)
    for (const { path, order } of [
      { path: `${base}/${threadId}/messages`, order: 'asc' },
      { path: `${base}/${threadId}/messages`, order: 'desc' },
      { path: `${base}/${threadId}/runs`, order: 'desc' },
    ]) {
      const found: string[] = []
      let pages = 0
      for (let more = true; more; pages += 1) {
        const after = found.length === 0 ? '' : `&after=${found.at(-1)}`
        const answer = await caller.call('GET', `${path}?limit=100&order=${order}${after}`)
        expect(answer.text.length).toBeLessThan(answerBytes * slack)
        found.push(...answer.body.data.map((entry: { id: string }) => entry.id))
        more = answer.body.has_more
      }
      expect(pages).toBe(2)
      expect(new Set(found).size).toBe(12)
      expect(found).toHaveLength(12)
    }
  })

  it('page lists with large entries', async () => {
    const owner = await insertUser(service)
    const { assistants, threads, projects } = service.collections
    const now = new Date()
    const place = { user_id: owner.userId, project_id: owner.projectId, created_at: now, updated_at: now }
    const notes = JSON.stringify({ notes: 'x'.repeat(megabyte) })
    const { secretsKey } = service.settings
    const configs = createAssistantConfigs(createSecretBox(secretsKey, []), createTokenHashes(secretsKey, []))
    const shared = { ...place, name: 'A', public: false }
    for (let count = 0; count < 12; count++) {
      const _id = newId()
      await assistants.insertMany([{ _id, ...shared, ...configs.fieldsOf(_id, notes) }], { lean: true })
      const thread = { _id: newId(), ...place, name: 'T', public: false, last_outcome: 'none' as const }
      await threads.insertMany([{ ...thread, metadata_json: notes }], { lean: true })
      const project = { _id: newId(), user_id: owner.userId, name: `P${count}`, created_at: now, updated_at: now }
      await projects.insertMany([{ ...project, description: 'x'.repeat(megabyte) }], { lean: true })
    }
    const all = async (path: string, pick: (body: any) => unknown[]) => {
      const pages = await allPages(owner, path)
      expect(pages).toHaveLength(2)
      return pages.flatMap(({ body }) => pick(body))
    }
    expect(await all('/assistants/', (body) => body)).toHaveLength(12)
    expect(await all('/threads/?limit=1000', (body) => body.threads)).toHaveLength(12)
    // The user's `main` is among them.
    expect(await all('/projects/', (body) => body)).toHaveLength(13)
    expect(
      new Set((await all('/assistants/?limit=1000', (body) => body)).map((one: any) => one.assistant_id)).size,
    ).toBe(12)
  })

  it('list public assistants with their public members, newest first', async () => {
    const owner = await insertUser(service)
    const anybody = apiClient(service.url)
    const own: string[] = []
    const description = `${'x'.repeat(1999)}😀`
    for (let count = 0; count < 12; count++) {
      const config = {
        'type==agent/access_mode': 'public_no_auth',
        'type==agent/description': description,
        'type==agent/system_message': 's'.repeat(900_000),
      }
      const { assistant_id: id } = await owner.post('/assistants/', { name: `A${count}`, config, public: true })
      own.push(id)
    }
    const listed = await anybody.call('GET', '/assistants/public/')
    expect(listed.text.length).toBeLessThan(12 * 3000)
    expect(listed.headers.get('link')).toBeNull()
    expect(listed.body.map((one: any) => one.assistant_id)).toEqual(own.toReversed())
    expect(listed.body[0].config).toEqual({
      'type==agent/access_mode': 'public_no_auth',
      'type==agent/description': 'x'.repeat(1999),
    })
    const part = await anybody.call('GET', '/assistants/public/?limit=5&offset=10')
    expect(part.body.map((one: any) => one.assistant_id)).toEqual(own.slice(0, 2).toReversed())
    const first = await anybody.call('GET', '/assistants/public/?limit=5')
    expect(first.body).toHaveLength(5)
    expect(first.headers.get('link')).toBe('</assistants/public/?limit=5&offset=5>; rel="next"')
    for (const query of ['limit=1001', 'limit=0', 'offset=-1'])
      expect((await anybody.call('GET', `/assistants/public/?${query}`)).status).toBe(422)
    // Reading one of them shows all of its description, still nothing else.
    expect((await anybody.get(`/assistants/${own[0]}`)).config['type==agent/description']).toBe(description)
  })

  it('page the files of an assistant and of an upload', async () => {
    const { assistant_id: assistantId } = await user.post('/assistants/', { name: 'Librarian' })
    const ingestionId = newId()
    const now = new Date()
    const files = Array.from({ length: 1100 }, (_, order): FileRecord => {
      const status = order < 550 ? 'ready' : 'queued'
      const counts = { chunks: 0, characters: 0, embedded: 0, size: 1, extracted: false }
      const text = { name: `${order}.txt`, content_type: 'text/plain', sha256: '', blob_id: newId() }
      const ids = { _id: newId(), assistant_id: assistantId, user_id: user.userId, ingestion_id: ingestionId }
      return { ...ids, order, ...text, ...counts, status, created_at: now, updated_at: now }
    })
    await service.collections.files.insertMany(files, { lean: true })
    for (const path of [`/assistants/${assistantId}/files`, `/assistants/${assistantId}/ingestions/${ingestionId}`]) {
      const pages = await allPages(user, path)
      expect(pages.map(({ body }) => body.files.length)).toEqual([1000, 100])
      const ids: string[] = pages.flatMap(({ body }) => body.files.map((file: { id: string }) => file.id))
      expect(ids).toEqual(files.map(({ _id }) => _id))
    }
    const part = await user.get(`/assistants/${assistantId}/ingestions/${ingestionId}?limit=10`)
    expect(part).toMatchObject({ status: 'processing', progress: 0.5 })
    expect(part.files).toHaveLength(10)
  })
})
