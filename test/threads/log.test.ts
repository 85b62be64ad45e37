import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { foldMessages } from '../../domain/conversation.ts'
import { newId } from '../../domain/ids.ts'
import { type Message, messagesFromJson, normaliseMessage } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Conversations } from '../../services/threads/conversations.ts'
import type { ThreadStates } from '../../services/threads/log-states.ts'
import type { ThreadLog } from '../../services/threads/log.ts'
import { type TestService, startService } from '../support/service.ts'

const human = (id: string, content: string): Message => ({ type: 'HumanMessage', data: { id, content } })

describe('the thread log', () => {
  let service: TestService
  let log: ThreadLog
  let states: ThreadStates
  let conversations: Conversations
  beforeAll(async () => {
    service = await startService({ worker: false })
    ;({ log, states, conversations } = service.api.platform.core)
  })
  afterAll(() => service.close())

  const named = (threadId: string) => ({ _id: threadId, user_id: 'u', updated_at: new Date() })
  const historyOf = async (threadId: string, page: { limit: number; before?: string }) =>
    (await states.history(named(threadId), page)).states
  const stateOf = (threadId: string) => states.state(named(threadId))

  async function newThread(deleting = false) {
    const now = new Date()
    const thread: ThreadRecord = {
      _id: newId(),
      user_id: 'u',
      project_id: 'p',
      name: '',
      metadata_json: '{}',
      public: false,
      last_outcome: 'none',
      has_system: false,
      created_at: now,
      updated_at: now,
      deleting,
    }
    await service.collections.threads.create(thread)
    return thread._id
  }

  it('numbers simultaneous appends without gaps or loss', async () => {
    const thread = await newThread()
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        log.append(thread, { messages: [human(`m${i}`, String(i))], source: 'update' }),
      ),
    )
    const past = await historyOf(thread, { limit: 100 })
    expect(past.map((state) => state.checkpoint.seq)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    expect(past[0]?.messages).toHaveLength(12)
    expect(past[0]?.parentId).toBe(past[1]?.checkpoint._id)
    expect(past[11]?.parentId).toBeUndefined()
  })

  it('stores a repeated step of a run once, also simultaneously', async () => {
    const thread = await newThread()
    const runId = newId()
    const entry = { messages: [human('a', 'hello')], source: 'step' as const, runId, step: 3 }
    const results = await Promise.all([log.append(thread, entry), log.append(thread, entry), log.append(thread, entry)])
    expect(new Set(results.map(({ record }) => record._id)).size).toBe(1)
    expect(results.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(await log.append(thread, entry)).toMatchObject({ record: { _id: results[0]?.record._id }, isNew: false })
    expect(await service.collections.checkpoints.countDocuments({ thread_id: thread })).toBe(1)
    await log.append(thread, { messages: [human('b', 'next')], source: 'step', runId, step: 4 })
    expect((await stateOf(thread))?.checkpoint.seq).toBe(2)
  })

  it('replaces a message with a known id in its place', async () => {
    const thread = await newThread()
    await log.append(thread, { messages: [human('a', '1'), human('b', '2')], source: 'update' })
    await log.append(thread, { messages: [human('a', 'one'), human('c', '3')], source: 'update' })
    expect((await conversations.read(thread, 1e6)).messages.map((m) => m.data.content)).toEqual(['one', '2', '3'])
    const [newest, oldest] = await historyOf(thread, { limit: 5 })
    expect(oldest?.messages.map((m) => m.data.content)).toEqual(['1', '2'])
    expect(await historyOf(thread, { limit: 5, before: String(newest?.checkpoint._id) })).toEqual([oldest])
    expect(await historyOf(thread, { limit: 5, before: 'unknown' })).toEqual([])
  })

  it('refuses entries for a thread that is missing or being deleted, and when the guard throws', async () => {
    await expect(log.append(await newThread(true), { messages: [], source: 'update' })).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(log.append('missing', { messages: [], source: 'update' })).rejects.toMatchObject({ code: 'not_found' })
    const thread = await newThread()
    const guard = () => Promise.reject(new Error('refused'))
    await expect(log.append(thread, { messages: [], source: 'update', guard })).rejects.toThrow('refused')
    expect(await conversations.read(thread, 1e6)).toEqual({ messages: [], lastSeq: 0, reach: Infinity })
    expect(await stateOf(thread)).toBeNull()
    expect((await log.append(thread, { messages: [], source: 'update' })).record.seq).toBe(1)
  })
})

describe('messages', () => {
  it('expands the flat form and keeps tool arguments exactly', () => {
    expect(normaliseMessage({ type: 'human', content: 'hi', id: 'x' })).toEqual(human('x', 'hi'))
    expect(normaliseMessage({ type: 'human', content: 'hi' }).data.id).toMatch(/^[0-9a-f-]{36}$/)
    const args: Record<string, unknown> = JSON.parse('{"__proto__":{"a":1},"$where":"x","":0,"a.b":[]}')
    const call = normaliseMessage({
      type: 'AIMessage',
      data: { id: 'y', content: '', tool_calls: [{ id: 'c', name: 't', args, type: 'tool_call' }] },
    })
    expect(JSON.stringify(messagesFromJson(JSON.stringify([call])))).toContain(
      '"args":{"__proto__":{"a":1},"$where":"x","":0,"a.b":[]}',
    )
  })

  it('folds without changing the given state', () => {
    const state = [human('a', '1')]
    expect(foldMessages(state, [human('a', '2'), human('b', '3')])).toHaveLength(2)
    expect(state[0]?.data.content).toBe('1')
  })
})
