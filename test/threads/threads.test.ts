import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

describe('threads', () => {
  const service = useSharedService()

  it('creates, reads and changes given members', async () => {
    const { call, projectId } = await insertUser(service)
    const metadata = '{"a.b":{"$gt":""},"__proto__":{"x":-0},"":"\\u0000"}'
    const created = await call('POST', '/threads/', `{"name":"T","metadata":${metadata}}`)
    expect(created.status).toBe(200)
    expect(created.body).toMatchObject({ name: 'T', project_id: projectId, assistant_id: null, status: 'idle' })
    expect(created.text).toContain(`"metadata":${metadata}`)
    const path = `/threads/${created.body.thread_id}`
    const renamed = await call('PUT', path, { name: 'U' })
    expect(renamed.body).toMatchObject({ name: 'U', created_at: created.body.created_at })
    expect((await call('GET', path)).text).toContain(`"metadata":${metadata}`)
    expect((await call('POST', '/threads/', { name: 1 })).status).toBe(422)
    expect((await call('POST', '/threads/')).status).toBe(422)
    expect((await call('POST', '/threads/', {})).body.name).toBe('New thread')
  })

  it('refers to an assistant that the caller may read', async () => {
    const [mine, theirs] = [await insertUser(service), await insertUser(service)]
    const { body: assistant } = await mine.call('POST', '/assistants/', { name: 'A' })
    const { body: hidden } = await theirs.call('POST', '/assistants/', { name: 'B' })
    const { body: thread } = await mine.call('POST', '/threads/', { assistant_id: assistant.assistant_id })
    expect(thread.assistant_id).toBe(assistant.assistant_id)
    expect((await mine.call('POST', '/threads/', { assistant_id: hidden.assistant_id })).status).toBe(403)
    expect((await mine.call('POST', '/threads/', { assistant_id: newId() })).status).toBe(404)
    expect(
      (await mine.call('PUT', `/threads/${thread.thread_id}`, { assistant_id: null })).body.assistant_id,
    ).toBeNull()
    expect((await mine.call('GET', '/auth/thread-info')).body?.thread_counter ?? 1).toBe(1)
  })

  it('pages through the list, most recently updated first', async () => {
    const { call } = await insertUser(service)
    const ids: string[] = []
    for (const name of ['a', 'b', 'c', 'd']) ids.push((await call('POST', '/threads/', { name })).body.thread_id)
    await call('POST', `/threads/${ids[1]}/state`, { values: [{ type: 'human', content: 'hi' }] })
    const first = await call('GET', '/threads/?limit=2')
    expect(first.body).toMatchObject({ total: 4, limit: 2, offset: 0 })
    expect(first.body.threads.map((thread: { name: string }) => thread.name)).toEqual(['b', 'd'])
    const second = await call('GET', '/threads/?limit=2&offset=2')
    expect(second.body.threads.map((thread: { name: string }) => thread.name)).toEqual(['c', 'a'])
    expect((await call('GET', '/threads/')).body).toMatchObject({ limit: 20, offset: 0 })
    for (const query of ['limit=0', 'limit=1001', 'offset=-1', 'limit=x']) {
      expect((await call('GET', `/threads/?${query}`)).status).toBe(422)
    }
  })

  it("returns 404 for another user's thread", async () => {
    const [mine, theirs] = [await insertUser(service), await insertUser(service)]
    const { body: thread } = await theirs.call('POST', '/threads/', { name: 'private' })
    for (const id of [thread.thread_id, newId()]) {
      expect((await mine.call('GET', `/threads/${id}`)).status).toBe(404)
      expect((await mine.call('GET', `/threads/${id}/state`)).status).toBe(404)
      expect((await mine.call('GET', `/threads/${id}/history`)).status).toBe(404)
      expect((await mine.call('POST', `/threads/${id}/state`, { values: [] })).status).toBe(404)
    }
    expect((await mine.call('PUT', `/threads/${thread.thread_id}`, { name: 'mine' })).status).toBe(404)
    expect((await mine.call('GET', '/threads/')).body.total).toBe(0)
    expect(await service.collections.users.findById(mine.userId).lean()).toMatchObject({ thread_counter: 0 })
  })

  it('adds messages, and shows the current and all past states', async () => {
    const { call } = await insertUser(service)
    const { body: thread } = await call('POST', '/threads/', {})
    const path = `/threads/${thread.thread_id}`
    expect((await call('GET', `${path}/state`)).body).toEqual({
      values: { messages: [] },
      next: [],
      checkpoint_id: null,
      parent_checkpoint_id: null,
      created_at: null,
      metadata: { thread_id: thread.thread_id },
    })
    const first = await call('POST', `${path}/state`, {
      values: {
        messages: [
          { type: 'human', content: 'hi', id: 'm1' },
          { type: 'AIMessage', data: { content: 'hello' } },
        ],
      },
    })
    expect(first.body.values.messages).toEqual([
      { type: 'HumanMessage', data: { id: 'm1', content: 'hi' } },
      { type: 'AIMessage', data: { id: expect.any(String), content: 'hello' } },
    ])
    const second = await call('POST', `${path}/state`, { values: [{ type: 'human', content: 'changed', id: 'm1' }] })
    expect(second.body).toMatchObject({
      parent_checkpoint_id: first.body.checkpoint_id,
      metadata: { source: 'update', step: 2 },
    })
    expect(second.body.values.messages[0].data.content).toBe('changed')
    expect((await call('GET', `${path}/history`)).body).toEqual([second.body, first.body])
    expect((await call('GET', `${path}/history?limit=1`)).body).toEqual([second.body])
    expect((await call('GET', `${path}/history?before=${second.body.checkpoint_id}`)).body).toEqual([first.body])
    for (const values of [
      5,
      [{ type: 'robot', content: 'x' }],
      [{ type: 'human' }],
      [{ type: 'ToolMessage', data: { content: 'x' } }],
    ]) {
      expect((await call('POST', `${path}/state`, { values })).status).toBe(422)
    }
  })

  it('keeps earlier versions of what followed a message', async () => {
    const { call } = await insertUser(service)
    const { body: thread } = await call('POST', '/threads/', {})
    const path = `/threads/${thread.thread_id}/state`
    const ask = (id: string, more: object = {}) => ({ type: 'HumanMessage', data: { id, content: id, ...more } })
    const answer = (id: string) => ({ type: 'AIMessage', data: { id, content: id } })
    await call('POST', path, { values: [ask('one'), answer('one.1'), ask('two'), answer('two.1')] })
    const { body: again } = await call('POST', path, { values: [ask('again', { after: 'one.1' }), answer('again.1')] })
    const idsOf = ({ values }: { values: { messages: { data: { id: string } }[] } }) =>
      values.messages.map(({ data }) => data.id)
    expect(idsOf(again)).toEqual(['one', 'one.1', 'again', 'again.1'])
    expect(idsOf((await call('GET', path)).body)).toEqual(idsOf(again))
    const { body: all } = await call('GET', `${path}?versions=all`)
    expect(idsOf(all)).toEqual(['one', 'one.1', 'two', 'two.1', 'again', 'again.1'])
    expect(all.values.messages[4]).toEqual(ask('again', { after: 'one.1' }))
    // The earlier version goes on.
    const { body: back } = await call('POST', path, { values: [ask('three', { after: 'two.1' })] })
    expect(idsOf(back)).toEqual(['one', 'one.1', 'two', 'two.1', 'three'])
    expect(idsOf((await call('GET', `${path}?before=three`)).body)).toEqual(['one', 'one.1', 'two', 'two.1'])
    expect((await call('POST', path, { values: [ask('x', { after: 5 })] })).status).toBe(422)
    expect((await call('GET', `${path}?versions=some`)).status).toBe(422)
  })

  it('derives the status from the runs', async () => {
    const user = await insertUser(service)
    const run = (thread: string, status: 'pending' | 'interrupted' | 'success') => ({
      _id: newId(),
      thread_id: thread,
      user_id: user.userId,
      project_id: user.projectId,
      assistant_id: 'a',
      public: false,
      acting: { person: 'owner' as const, origin: 'chat' as const },
      status,
      input_json: '[]',
      overrides: {},
      fence: 0,
      created_at: new Date(),
    })
    const make = async () => (await user.call('POST', '/threads/', {})).body.thread_id as string
    const [busy, interrupted, failed, idle] = [await make(), await make(), await make(), await make()]
    await service.collections.runs.create([run(busy, 'pending'), run(interrupted, 'interrupted'), run(idle, 'success')])
    await service.collections.threads.updateOne({ _id: failed }, { $set: { last_outcome: 'error' } })
    const { body } = await user.call('GET', '/threads/')
    const statuses = Object.fromEntries(
      body.threads.map((thread: { thread_id: string; status: string }) => [thread.thread_id, thread.status]),
    )
    expect(statuses).toEqual({ [busy]: 'busy', [interrupted]: 'interrupted', [failed]: 'error', [idle]: 'idle' })
    expect((await user.call('GET', `/threads/${busy}`)).body.status).toBe('busy')
    await service.collections.runs.deleteMany({ thread_id: busy })
  })

  it('stops fifty creations at once exactly at the quota', async () => {
    const user = await insertUser(service, { threadMax: 20 })
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0 ? user.call('POST', '/threads/', {}) : user.call('PUT', `/threads/${newId()}`, {}),
      ),
    )
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(20)
    expect(answers.filter((answer) => answer.status === 403)).toHaveLength(30)
    expect(await service.collections.threads.countDocuments({ user_id: user.userId })).toBe(20)
    expect(await service.collections.users.findById(user.userId).lean()).toMatchObject({ thread_counter: 20 })
  })

  it('counts a repeated PUT of one id once', async () => {
    const user = await insertUser(service)
    const id = `thread.${newId()}`
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => user.call('PUT', `/threads/${id}`, { name: 'same' })),
    )
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
    expect(await service.collections.users.findById(user.userId).lean()).toMatchObject({ thread_counter: 1 })
  })
})
