import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { useSharedService } from '../support/shared-service.ts'
import { clientWith, refusalOf, v1Client } from './v1-client.ts'

describe('conversations of /v1', () => {
  const service = useSharedService()
  const asked = () => service.model.requests.at(-1)?.body.messages.map(({ content }) => content)

  it('are created, read, changed and deleted, with a receipt', async () => {
    const { client, owner } = await v1Client(service)
    const created = await client.conversations.create({
      items: [{ role: 'user', content: 'Hello' }],
      metadata: { topic: 'greeting' },
    })
    expect(created).toEqual({
      id: expect.stringMatching(/^conv_[0-9a-f-]{36}$/),
      object: 'conversation',
      created_at: expect.any(Number),
      metadata: { topic: 'greeting' },
    })
    expect(await client.conversations.retrieve(created.id)).toEqual(created)
    const updated = await client.conversations.update(created.id, { metadata: { topic: 'new' } })
    expect(updated).toEqual({ ...created, metadata: { topic: 'new' } })
    expect(await client.conversations.create()).toMatchObject({ object: 'conversation', metadata: {} })
    const deleted = await client.conversations.delete(created.id)
    expect(deleted).toMatchObject({ id: created.id, object: 'conversation.deleted', deleted: true })
    const { receipt_id: receiptId } = deleted as unknown as { receipt_id: string }
    expect(await owner.get(`/receipts/${receiptId}`)).toMatchObject({ status: 'complete' })
    expect((await refusalOf(client.conversations.retrieve(created.id))).status).toBe(404)
  })

  it('are not made by a request that is refused', async () => {
    const { client, owner } = await v1Client(service)
    const items = [{ type: 'item_reference', id: `msg_${newId()}` }] as unknown as []
    expect((await refusalOf(client.conversations.create({ items }))).status).toBe(400)
    expect(await service.collections.threads.countDocuments({ user_id: owner.userId, kind: 'conversation' })).toBe(0)
  })

  it('have their items when the request is repeated after an attempt that died between', async () => {
    const { client } = await v1Client(service)
    const body = { items: [{ role: 'user' as const, content: 'Hello' }] }
    const key = { headers: { 'idempotency-key': newId() } }
    const { id } = await client.conversations.create(body, key)
    const threadId = id.slice('conv_'.length)
    await service.collections.checkpoints.deleteMany({ thread_id: threadId })
    await service.collections.threads.updateOne({ _id: threadId }, { $unset: { last_seq: 1, last_entry_id: 1 } })
    await service.collections.idempotencyKeys.updateOne(
      { subjects: threadId },
      { $set: { leased_until: new Date(0) }, $unset: { outcome: 1, answer: 1 } },
    )
    for (let attempt = 0; attempt < 2; attempt++) {
      expect((await client.conversations.create(body, key)).id).toBe(id)
      expect((await client.conversations.items.list(id)).data).toMatchObject([{ content: [{ text: 'Hello' }] }])
    }
  })

  it('hold the items of the responses that name them', async () => {
    const { client } = await v1Client(service)
    const { id } = await client.conversations.create({ items: [{ role: 'developer', content: 'Be kind.' }] })
    for (const text of ['A1', 'A2']) service.model.reply({ text })
    const first = await client.responses.create({ model: 'scripted', input: 'Q1', conversation: id })
    expect(first.conversation).toEqual({ id })
    await client.responses.create({ model: 'scripted', input: 'Q2', conversation: { id } })
    expect(asked()).toEqual(['Be kind.', 'Q1', 'A1', 'Q2'])
    const items = await Array.fromAsync(client.conversations.items.list(id, { order: 'asc', limit: 2 }))
    expect(items).toMatchObject([
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be kind.' }] },
      { type: 'message', role: 'user', content: [{ text: 'Q1' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A1' }] },
      { type: 'message', role: 'user', content: [{ text: 'Q2' }] },
      { type: 'message', role: 'assistant', content: [{ text: 'A2' }] },
    ])
    expect(items[2]?.id).toBe(first.output[0]?.id)
    // A response that goes on from one of them is not added.
    service.model.reply({ text: 'A3' })
    const branch = await client.responses.create({ model: 'scripted', input: 'Q3', previous_response_id: first.id })
    expect(branch.conversation).toBeNull()
    expect(asked()).toEqual(['Be kind.', 'Q1', 'A1', 'Q3'])
    expect((await client.conversations.items.list(id)).data).toHaveLength(5)
    // Deleting a response leaves its items in the conversation.
    await client.responses.delete(first.id)
    expect((await refusalOf(client.responses.retrieve(first.id))).status).toBe(404)
    expect((await client.conversations.items.list(id)).data).toHaveLength(5)
  })

  it('take items, show one, and delete one for good', async () => {
    const { client } = await v1Client(service)
    const { id } = await client.conversations.create({})
    const added = await client.conversations.items.create(id, {
      items: [
        { role: 'user', content: 'One' },
        { role: 'assistant', content: 'Forget this' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'seen' },
      ],
    })
    expect(added).toMatchObject({
      object: 'list',
      data: [
        { type: 'message', role: 'user' },
        { type: 'message', role: 'assistant' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'seen' },
      ],
    })
    const [, second] = added.data
    const itemId = second?.id ?? ''
    expect(await client.conversations.items.retrieve(itemId, { conversation_id: id })).toEqual(second)
    expect(await client.conversations.items.delete(itemId, { conversation_id: id })).toMatchObject({ id })
    expect((await refusalOf(client.conversations.items.retrieve(itemId, { conversation_id: id }))).status).toBe(404)
    expect((await refusalOf(client.conversations.items.delete(itemId, { conversation_id: id }))).status).toBe(404)
    const left = await client.conversations.items.list(id, { order: 'asc' })
    expect(left.data.map(({ type }) => type)).toEqual(['message', 'function_call', 'function_call_output'])
    service.model.reply({ text: 'Fine' })
    await client.responses.create({ model: 'scripted', input: 'Go', conversation: id })
    expect(JSON.stringify(service.model.requests.at(-1)?.body.messages)).not.toContain('Forget this')
    // Nothing of the question of a response stays, wherever it was.
    const [question] = (await client.conversations.items.list(id, { order: 'desc', limit: 2 })).data.slice(1)
    expect(question).toMatchObject({ role: 'user', content: [{ text: 'Go' }] })
    await client.conversations.items.delete(question?.id ?? '', { conversation_id: id })
    const runs = await service.collections.runs.find({ thread_id: id.slice('conv_'.length) }).lean()
    expect(runs.map((run) => run.input_json)).toEqual(['[]'])
    const refused = await refusalOf(
      client.conversations.items.create(id, {
        items: [
          { role: 'user', content: [{ type: 'input_image', image_url: 'http://10.0.0.1/a.png', detail: 'auto' }] },
        ],
      }),
    )
    expect([refused.status, refused.param]).toEqual([400, 'items[0].content[0].image_url'])
  })

  it('are read by pages, however long they are, in both orders and directions', async () => {
    const { client } = await v1Client(service)
    const { id } = await client.conversations.create({})
    const added: string[] = []
    const add = async (text: string) => {
      const { data } = await client.conversations.items.create(id, { items: [{ role: 'user', content: text }] })
      added.push(...data.map((item) => String(item.id)))
    }
    for (let number = 0; number < 52; number++) await add(`Item ${number}`)
    service.model.reply({ text: 'Answer' })
    await client.responses.create({ model: 'scripted', input: 'Question', conversation: id })
    await add('Last')
    const all = (await client.conversations.items.list(id, { order: 'asc', limit: 100 })).data.map((item) => item.id)
    expect(all).toHaveLength(55)
    expect([...all.slice(0, 52), all[54]]).toEqual(added)
    const paged = async (order: 'asc' | 'desc') =>
      (await Array.fromAsync(client.conversations.items.list(id, { order, limit: 9 }))).map((item) => item.id)
    expect(await paged('asc')).toEqual(all)
    expect(await paged('desc')).toEqual(all.toReversed())
    const part = async (query: Record<string, string | number>) => {
      const page: { data: { id: string }[]; has_more: boolean } = await client.get(`/conversations/${id}/items`, {
        query,
      })
      return [page.data.map((item) => item.id), page.has_more]
    }
    expect(await part({ order: 'asc', before: all[53] ?? '', limit: 2 })).toEqual([all.slice(51, 53), true])
    expect(await part({ order: 'desc', before: all[1] ?? '', limit: 2 })).toEqual([[all[3], all[2]], true])
    expect(await part({ order: 'asc', after: all[2] ?? '', before: all[54] ?? '', limit: 100 })).toEqual([
      all.slice(3, 54),
      false,
    ])
    const nowhere = { order: 'asc', after: 'msg_nothing' }
    expect((await refusalOf(client.get(`/conversations/${id}/items`, { query: nowhere }))).status).toBe(404)
  })

  it('belong to one project', async () => {
    const { client, owner } = await v1Client(service)
    const { id } = await client.conversations.create({ items: [{ role: 'user', content: 'Secret' }] })
    const [item] = (await client.conversations.items.list(id)).data
    const { project_id: other } = await owner.post('/projects/', { name: 'Other' })
    const { jwt_token: token } = await owner.get(`/projects/${String(other)}`)
    const second = clientWith(service, String(token))
    const place = { conversation_id: id }
    for (const request of [
      () => second.conversations.retrieve(id),
      () => second.conversations.update(id, { metadata: {} }),
      () => second.conversations.delete(id),
      () => second.conversations.items.list(id),
      () => second.conversations.items.create(id, { items: [] }),
      () => second.conversations.items.retrieve(item?.id ?? '', place),
      () => second.conversations.items.delete(item?.id ?? '', place),
      () => second.responses.create({ model: 'scripted', input: 'Hi', conversation: id }),
    ])
      expect((await refusalOf(request())).status).toBe(404)
    const both = { model: 'scripted', input: 'Hi', conversation: id, previous_response_id: 'resp_x' }
    expect((await refusalOf(client.responses.create(both))).param).toBe('previous_response_id')
  })
})
