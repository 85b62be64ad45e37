import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import type { Message } from '../../domain/messages.ts'
import { createConversations } from '../../services/threads/conversations.ts'
import { threadRecordOf } from '../../services/threads/create-thread.ts'
import { type TestService, startService } from '../support/service.ts'

const human = (id: string, content: string): Message => ({ type: 'HumanMessage', data: { id, content } })
const contents = ({ messages }: { messages: Message[] }) => messages.map(({ data }) => data.content)

describe('the conversation of a thread', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.close())

  async function newThread(count: number) {
    const thread = threadRecordOf({
      id: newId(),
      userId: 'u',
      projectId: 'p',
      name: '',
      metadataJson: '{}',
      public: true,
    })
    await service.collections.threads.create([thread])
    const { log, conversations } = service.api.platform.core
    for (let i = 1; i <= count; i++)
      await log.append(thread._id, { messages: [human(`m${i}`, `text ${i}`)], source: 'update' })
    return { thread, log, conversations, reread: () => service.collections.threads.findById(thread._id).lean() }
  }

  it('is read from its end until enough bytes are read', async () => {
    const { thread, conversations } = await newThread(70)
    expect(await conversations.read(thread._id, 130)).toMatchObject({ lastSeq: 70 })
    expect(contents(await conversations.read(thread._id, 130))).toEqual(['text 69', 'text 70'])
    expect(contents(await conversations.read(thread._id, 1e6))).toHaveLength(70)
  })

  it('keeps its system messages, however old they are', async () => {
    const { thread, log, conversations, reread } = await newThread(0)
    const system: Message = { type: 'SystemMessage', data: { id: 's', content: 'Be brief.' } }
    await log.append(thread._id, { messages: [system], source: 'update' })
    for (let i = 1; i <= 5; i++)
      await log.append(thread._id, { messages: [human(`m${i}`, `text ${i}`)], source: 'update' })
    expect(await reread()).toMatchObject({ has_system: true })
    expect(contents(await conversations.read(thread._id, 60))).toEqual(['Be brief.', 'text 5'])
  })

  it('is taken from the cache only while the thread is unchanged', async () => {
    const { thread, log, reread } = await newThread(1)
    let now = 1
    const conversations = createConversations(service.collections, { clock: () => now })
    const known = (await reread()) ?? thread
    const remembered = { messages: [human('m1', 'from memory')], lastSeq: 1 }
    conversations.remember(known, remembered)
    expect(contents(await conversations.read(thread._id, 1e6, { thread: known }))).toEqual(['from memory'])
    expect(contents(await conversations.read(thread._id, 1e6))).toEqual(['text 1'])
    // Deleted and made anew under the same id.
    const anew = { ...known, created_at: new Date(known.created_at.getTime() + 1) }
    expect(contents(await conversations.read(thread._id, 1e6, { thread: anew }))).toEqual(['text 1'])
    await log.append(thread._id, { messages: [human('m2', 'text 2')], source: 'update' })
    const changed = (await reread()) ?? thread
    expect(contents(await conversations.read(thread._id, 1e6, { thread: changed }))).toEqual(['text 1', 'text 2'])
    // A long one, but not a huge one.
    for (const [length, kept] of [
      [500_000, true],
      [5_000_000, false],
    ] as const) {
      conversations.remember(changed, { messages: [human('m2', 'x'.repeat(length))], lastSeq: 2 })
      expect(conversations.isAtHand(changed)).toBe(kept)
    }
    // A run waits for the result of its tool, or for a person.
    const call: Message = {
      type: 'AIMessage',
      data: { id: 'a', content: '', tool_calls: [{ id: 'c', name: 'http_request', args: {}, type: 'tool_call' }] },
    }
    conversations.remember(changed, { messages: [human('m2', 'from memory'), call], lastSeq: 2 })
    expect(conversations.isAtHand(changed)).toBe(false)
    conversations.remember(changed, { messages: [human('m2', 'from memory')], lastSeq: 2 })
    expect(conversations.isAtHand(changed)).toBe(true)
    now = 10 * 60_000
    expect(conversations.isAtHand(changed)).toBe(false)
    expect(contents(await conversations.read(thread._id, 1e6, { thread: known }))).toEqual(['text 1', 'text 2'])
  })
})
