import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import type { AIMessage, Message } from '../../domain/messages.ts'
import { createConversations } from '../../services/threads/conversations.ts'
import { threadRecordOf } from '../../services/threads/create-thread.ts'
import { useSharedService } from '../support/shared-service.ts'

const human = (id: string, content: string): Message => ({ type: 'HumanMessage', data: { id, content } })
const contents = ({ messages }: { messages: Message[] }) => messages.map(({ data }) => data.content)

describe('the conversation of a thread', () => {
  const service = useSharedService()

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

  it('reaches back to the question of a person, however much stands behind it', async () => {
    const { thread, log, conversations } = await newThread(3)
    const system: Message = { type: 'SystemMessage', data: { id: 's', content: 'Be brief.' } }
    const said = (id: string): Message => ({ type: 'AIMessage', data: { id, content: id.repeat(500) } })
    for (const message of [said('a'), said('b'), system, said('c')])
      await log.append(thread._id, { messages: [message], source: 'update' })
    const ids = async (needsQuestion: boolean) =>
      (await conversations.read(thread._id, 600, { needsQuestion })).messages.map(({ data: { id } }) => id)
    expect(await ids(false)).toEqual(['s', 'c'])
    expect(await ids(true)).toEqual(['m3', 's', 'c'])
  })

  it('of an earlier version ends where that ends, however long ago', async () => {
    const { thread, conversations } = await newThread(70)
    const read = await conversations.read(thread._id, 130, { last: 'm20' })
    expect(contents(read)).toEqual(['text 19', 'text 20'])
    expect(read.lastSeq).toBe(70)
  })

  it('of an edited early question keeps what was before it, however much its other versions say', async () => {
    const { thread, log, conversations } = await newThread(200)
    const edited: Message = { type: 'HumanMessage', data: { id: 'e', content: 'edited', after: 'm20' } }
    await log.append(thread._id, { messages: [edited], source: 'input' })
    expect(contents(await conversations.read(thread._id, 300))).toEqual([
      ...[17, 18, 19, 20].map((i) => `text ${i}`),
      'edited',
    ])
    for (let i = 1; i <= 100; i++)
      await log.append(thread._id, { messages: [human(`n${i}`, `more ${i}`)], source: 'input' })
    expect(contents(await conversations.read(thread._id, 130))).toEqual(['more 99', 'more 100'])
    const again: Message = { type: 'HumanMessage', data: { id: 'f', content: 'again', after: 'e' } }
    await log.append(thread._id, { messages: [again], source: 'input' })
    const before = Array.from({ length: 20 }, (_, index) => `text ${index + 1}`)
    expect(contents(await conversations.read(thread._id, 10_000))).toEqual([...before, 'edited', 'again'])
    // Its metadata changed: it keeps its place.
    const answer = human('g', 'answer')
    await log.append(thread._id, { messages: [answer], source: 'step' })
    await log.append(thread._id, { messages: [again], source: 'update' })
    expect(contents(await conversations.read(thread._id, 10_000))).toEqual([...before, 'edited', 'again', 'answer'])
  })

  it('is taken from memory only while the thread is unchanged', async () => {
    const { thread, log, reread } = await newThread(1)
    let now = 1
    const conversations = createConversations(service.api.platform.core, { clock: () => now })
    const known = (await reread()) ?? thread
    const newestId = known.last_entry_id ?? ''
    const kept = (content: string, lastSeq: number, reach = Infinity) => ({
      messages: [human('m1', content)],
      lastSeq,
      reach,
    })
    /** As a step that was shown all but the last message, and stored that one. */
    const keep = ({ messages, lastSeq, reach }: ReturnType<typeof kept>, _id: string) => {
      const answer = { isNew: true, firstSeq: lastSeq, record: { _id, seq: lastSeq } }
      const message = messages[0] as unknown as AIMessage
      conversations.keep({
        thread,
        conversation: { messages: [], lastSeq: lastSeq - 1, reach },
        message,
        answer,
      })
    }
    const read = async (of = known, maxBytes = 1e6) =>
      contents(await conversations.read(thread._id, maxBytes, { thread: of }))
    keep(kept('from memory', 1), newestId)
    expect(await read()).toEqual(['from memory'])
    expect(contents(await conversations.read(thread._id, 1e6))).toEqual(['text 1'])
    // Deleted, and imported again with the same numbers and times.
    const { last_entry_id: _, ...imported } = known
    expect(await read(imported)).toEqual(['text 1'])
    expect(await read({ ...known, last_entry_id: newId() })).toEqual(['text 1'])

    await log.append(thread._id, { messages: [human('m2', 'text 2')], source: 'update' })
    const changed = (await reread()) ?? thread
    expect(changed.last_entry_id).not.toBe(known.last_entry_id)
    expect(await read(changed)).toEqual(['text 1', 'text 2'])
    // A process of an earlier version counts, but does not write the id.
    expect(await read({ ...known, last_seq: 2 })).toEqual(['text 1', 'text 2'])

    // A long one, but not a huge one; and a cut one only for a window that is not larger.
    const current = changed.last_entry_id ?? ''
    for (const [length, isKept] of [
      [500_000, true],
      [5_000_000, false],
    ] as const) {
      keep(kept('x'.repeat(length), 2), current)
      expect((await read(changed)).length).toBe(isKept ? 1 : 2)
    }
    keep(kept('the end', 2, 1000), current)
    expect(await read(changed, 1000)).toEqual(['the end'])
    expect(await read(changed, 1001)).toEqual(['text 1', 'text 2'])

    conversations.forget([thread._id])
    expect(await read(changed, 1000)).toEqual(['text 1', 'text 2'])
    keep(kept('from memory', 2), current)
    expect(await read(changed)).toEqual(['from memory'])
    now = 10 * 60_000
    expect(await read(changed)).toEqual(['text 1', 'text 2'])
  })
})
