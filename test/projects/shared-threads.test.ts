import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { joinProject, tokenOf } from './joined.ts'

const service = useSharedService()

const said = (content: string) => [{ type: 'human', content }]

/** A project with an assistant, and a thread of a member in it. */
async function teamWith(thread: object) {
  const owner = await insertUser(service)
  const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'A' })
  const maker = await joinProject(service, owner.projectId, 'member')
  const made = await maker.post('/threads/', { name: 'Plans', assistant_id: assistantId, ...thread })
  const other = await joinProject(service, owner.projectId, 'member')
  const viewer = await joinProject(service, owner.projectId, 'viewer')
  return {
    owner,
    maker,
    other,
    viewer,
    assistantId,
    threadId: made.thread_id,
    path: `/threads/${made.thread_id}`,
    made,
  }
}

type Client = Awaited<ReturnType<typeof joinProject>>

async function answered(by: Client, threadId: string, question: string, answer: string) {
  service.model.reply({ text: answer })
  const run = await by.post('/runs/', { thread_id: threadId, input: said(question) })
  await by.call('GET', `/runs/${run.run_id}/stream`)
  return run.run_id as string
}

describe('a thread of the project', () => {
  it('is read by all who use the project, with the names of who made it and who wrote', async () => {
    const { owner, maker, viewer, threadId, path, made } = await teamWith({ visibility: 'project' })
    expect(made).toMatchObject({
      visibility: 'project',
      project_access: 'read',
      created_by: { user_id: maker.userId, name: maker.email },
    })
    const runId = await answered(maker, threadId, 'When do we sail?', 'At noon.')
    for (const reader of [owner, viewer]) {
      expect((await reader.get('/threads/')).threads).toMatchObject([
        { thread_id: threadId, created_by: { user_id: maker.userId } },
      ])
      expect(await reader.get(path)).toMatchObject({ name: 'Plans' })
      const state = await reader.get(`${path}/state`)
      expect(state.authors).toEqual([{ user_id: maker.userId, name: maker.email }])
      expect(state.values.messages).toMatchObject([
        { data: { content: 'When do we sail?', author_id: maker.userId } },
        { data: { content: 'At noon.' } },
      ])
      expect(await reader.get(`${path}/history`)).toHaveLength(2)
      expect((await reader.get(`${path}/runs`)).runs).toMatchObject([{ run_id: runId }])
      expect(await reader.get(`/runs/${runId}`)).toMatchObject({ status: 'success' })
      expect((await reader.get('/search/messages?q=sail')).found).toMatchObject([{ thread: { thread_id: threadId } }])
      expect(await reader.get(`/v1/threads/${threadId}`)).toMatchObject({ id: threadId })
      expect((await reader.get(`/v1/threads/${threadId}/messages`)).data).toHaveLength(2)
      expect((await reader.get(`/v1/threads/${threadId}/runs`)).data).toHaveLength(1)
    }
    expect((await maker.get('/auth/thread-info')).thread_counter).toBe(1)
    expect((await owner.get('/auth/thread-info')).thread_counter).toBe(0)
  })

  it('is changed, shared by a link and deleted by whoever made it alone', async () => {
    const { owner, maker, other, path, threadId } = await teamWith({
      visibility: 'project',
      project_access: 'continue',
    })
    const runId = await answered(maker, threadId, 'Hi', 'Hello.')
    const messages = [{ type: 'human', content: 'Changed' }]
    for (const somebody of [owner, other])
      for (const [method, at, body] of [
        ['PUT', path, { name: 'Mine' }],
        ['PUT', path, { visibility: 'private' }],
        ['POST', `${path}/state`, { values: messages }],
        ['POST', `${path}/share`],
        ['PUT', `${path}/share`],
        ['GET', `${path}/share`],
        ['DELETE', `${path}/share`],
        ['DELETE', path],
        ['POST', `/runs/${runId}/cancel`],
        ['POST', `/runs/${runId}/resume`, { action: 'reject' }],
        ['POST', `/v1/threads/${threadId}`, { metadata: {} }],
        ['DELETE', `/v1/threads/${threadId}`],
        ['POST', `/v1/threads/${threadId}/runs/${runId}/cancel`],
        ['POST', `/v1/threads/${threadId}/runs/${runId}`, { metadata: {} }],
      ] as const)
        expect([method, at, (await somebody.call(method, at, body)).status]).toEqual([
          method,
          at,
          at.startsWith('/v1/threads/') && method === 'POST' && at.split('/').length === 4 ? 404 : 403,
        ])
    expect(await maker.call('PUT', path, { name: 'Ours' })).toMatchObject({ status: 200, body: { name: 'Ours' } })
    expect(await maker.call('POST', `${path}/share`)).toMatchObject({ status: 200 })
    expect(JSON.stringify((await maker.call('POST', `${path}/share`)).body)).not.toContain('author')
  })

  it('is read only unless it may be continued by all, and then names who wrote', async () => {
    const { owner, maker, other, viewer, path, threadId } = await teamWith({ visibility: 'project' })
    const run = { thread_id: threadId, input: said('May I?') }
    expect(await other.call('POST', '/runs/', run)).toMatchObject({ status: 403 })
    expect(await other.call('POST', `/v1/threads/${threadId}/messages`, { role: 'user', content: 'Hi' })).toMatchObject(
      {
        status: 403,
      },
    )
    await maker.call('PUT', path, { project_access: 'continue' })
    await owner.post('/memory/', { text: 'The owner likes sailing.' })
    const first = await answered(other, threadId, 'Who are you?', 'An assistant.')
    await answered(owner as never, threadId, 'What do I like?', 'I do not know.')
    expect(JSON.stringify(service.model.requests.at(-1))).not.toContain('sailing')
    expect(await viewer.call('POST', '/runs/', run)).toMatchObject({ status: 403 })
    const { values, authors } = await viewer.get(`${path}/state`)
    expect(values.messages.map(({ data }: any) => data.author_id)).toEqual([
      other.userId,
      undefined,
      owner.userId,
      undefined,
    ])
    expect(authors.map(({ user_id: id }: any) => id).toSorted()).toEqual(
      [maker.userId, other.userId, owner.userId].toSorted(),
    )
    expect(await service.collections.runs.findById(first).lean()).toMatchObject({ user_id: other.userId })
    expect(await other.call('POST', `/v1/threads/${threadId}/messages`, { role: 'user', content: 'Hi' })).toMatchObject(
      {
        status: 200,
      },
    )
    await maker.call('PUT', path, { visibility: 'private' })
    for (const at of [path, `${path}/state`, `/runs/${first}`])
      expect([at, (await other.call('GET', at)).status]).toEqual([at, 404])
    expect((await viewer.get('/threads/')).threads).toEqual([])
    expect(await maker.get(`/runs/${first}`)).toMatchObject({ status: 'success' })
  })

  it('is not seen with a token of another project, by strangers, or by whoever was removed', async () => {
    const { owner, other, path, threadId } = await teamWith({ visibility: 'project', project_access: 'continue' })
    const runId = await answered(other, threadId, 'Hi', 'Hello.')
    const own = apiClient(service.url, await tokenOf(service, other.userId, other.projectId))
    const stranger = await insertUser(service)
    for (const foreign of [own, stranger])
      for (const at of [path, `${path}/state`, `/runs/${runId}`, `/v1/threads/${threadId}`])
        expect([at, (await foreign.call('GET', at)).status]).toEqual([at, 404])
    await owner.delete(`/projects/${owner.projectId}/members/${other.memberId}`)
    expect(await own.call('GET', `/runs/${runId}`)).toMatchObject({ status: 404 })
    expect(await other.call('GET', path)).toMatchObject({ status: 403 })
  })

  it('keeps what others have answered when they are removed in mid-run', async () => {
    const { owner, maker, other, path, threadId } = await teamWith({
      visibility: 'project',
      project_access: 'continue',
    })
    const gate = Promise.withResolvers<void>()
    const { arrived } = service.model.reply({ text: ['A long ', gate.promise, 'answer.'] })
    const run = await other.post('/runs/', { thread_id: threadId, input: said('Tell me') })
    await arrived
    await owner.delete(`/projects/${owner.projectId}/members/${other.memberId}`)
    gate.resolve()
    expect(await maker.get(`/runs/${run.run_id}`)).toMatchObject({ status: 'cancelled' })
    await eventually('the answer so far', async () => {
      const { values } = await maker.get(`${path}/state`)
      return values.messages.length === 2 || undefined
    })
    const { values, authors } = await maker.get(`${path}/state`)
    expect(values.messages[0].data).toMatchObject({ content: 'Tell me', author_id: other.userId })
    expect(authors).toHaveLength(2)
  })

  it('is none that is temporary, or that others may not see', async () => {
    const { maker, viewer, path } = await teamWith({})
    expect(await viewer.call('GET', path)).toMatchObject({ status: 404 })
    expect(await maker.call('PUT', path, { visibility: 'everybody' })).toMatchObject({ status: 422 })
    const temporary = await maker.post('/threads/', { temporary: true })
    expect(await maker.call('PUT', `/threads/${temporary.thread_id}`, { visibility: 'project' })).toMatchObject({
      status: 403,
    })
    expect(await maker.call('POST', '/threads/', { temporary: true, visibility: 'project' })).toMatchObject({
      status: 403,
    })
    expect(await maker.call('PUT', path, { visibility: 'project' })).toMatchObject({
      status: 200,
      body: { visibility: 'project', project_access: 'read' },
    })
    expect((await viewer.get('/threads/?visibility=private')).threads).toEqual([])
    expect((await viewer.get('/threads/?visibility=project')).threads).toHaveLength(1)
    expect((await maker.get('/threads/?visibility=private')).threads).toEqual([])
  })
})
