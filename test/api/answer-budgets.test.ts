import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerBytes } from '../../domain/answer-budget.ts'
import { newId } from '../../domain/ids.ts'
import { messagesToJson } from '../../domain/messages.ts'
import type { CheckpointRecord } from '../../domain/records/thread.ts'
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

  it('page through a history that is fifty times what is stored', async () => {
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
  }, 90_000)

  it('show the newest messages of a state, and the others with before', async () => {
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
  }, 60_000)

  it("show the newest of a run's messages, and the others with before", async () => {
    const threadId = await newThread()
    const runId = await addRun(threadId)
    await fillLog(threadId, 12, megabyte, runId)
    const { body: run, text } = await user.call('GET', `/runs/${runId}`)
    expect(text.length).toBeLessThan(answerBytes * slack)
    expect(idsOf(run.output)).toEqual(['m5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11', 'm12'])
    expect(run.omitted_messages).toBe(4)
    expect(idsOf((await user.get(`/runs/${runId}?before=m5`)).output)).toEqual(['m1', 'm2', 'm3', 'm4'])
  }, 60_000)

  it('show an assistant to its public callers in pages', async () => {
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
  }, 120_000)
})
