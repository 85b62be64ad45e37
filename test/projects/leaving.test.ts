import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { archiveOf, importInto } from '../support/archives.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { joinProject, tokenOf } from './joined.ts'

const service = useSharedService()

const said = (content: string) => [{ type: 'human', content }]

async function answered(by: any, threadId: string, question: string, answer: string) {
  service.model.reply({ text: answer })
  const run = await by.post('/runs/', { thread_id: threadId, input: said(question) })
  await by.call('GET', `/runs/${run.run_id}/stream`)
  return run.run_id as string
}

/** An editor with a private thread, one of the project, and a schedule. */
async function editorWithThreads() {
  const owner = await insertUser(service)
  const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'A' })
  const editor = await joinProject(service, owner.projectId, 'editor')
  const mine = await editor.post('/threads/', { name: 'Mine', assistant_id: assistantId })
  const ours = await editor.post('/threads/', { name: 'Ours', assistant_id: assistantId, visibility: 'project' })
  await answered(editor, mine.thread_id, 'A secret of harbours', 'I see.')
  await answered(editor, ours.thread_id, 'A plan of harbours', 'I see.')
  const schedule = await editor.post('/schedules/', {
    assistant_id: assistantId,
    thread_id: mine.thread_id,
    input: said('Hi'),
    cron: '0 7 1 1 *',
  })
  const own = apiClient(service.url, await tokenOf(service, editor.userId, editor.projectId))
  const remove = (client: any, choice = '') =>
    client.call('DELETE', `/projects/${owner.projectId}/members/${editor.memberId}${choice}`)
  const counters = async () =>
    Promise.all([owner, own].map(async (one) => (await one.get('/auth/thread-info')).thread_counter))
  return {
    owner,
    editor,
    own,
    mine: mine.thread_id,
    ours: ours.thread_id,
    schedule: schedule.schedule_id,
    remove,
    counters,
  }
}

describe('whoever leaves a project', () => {
  it('keeps his private threads in a project of his own; those of the project stay', async () => {
    const { owner, editor, own, mine, ours, remove, counters } = await editorWithThreads()
    const { token } = await editor.post(`/threads/${mine}/share`)
    expect(await counters()).toEqual([0, 2])
    expect(await remove(owner)).toMatchObject({ status: 200 })
    expect((await own.get('/threads/')).threads).toMatchObject([
      { thread_id: mine, project_id: editor.projectId, assistant_id: null, visibility: 'private' },
    ])
    expect((await own.get('/search/messages?q=harbours')).found).toMatchObject([{ thread: { thread_id: mine } }])
    expect(await own.call('GET', `/shared/${token}`)).toMatchObject({ status: 200 })
    expect(await own.call('GET', `/threads/${ours}`)).toMatchObject({ status: 404 })
    expect((await owner.get('/threads/')).threads).toMatchObject([
      { thread_id: ours, visibility: 'project', created_by: { user_id: editor.userId } },
    ])
    expect((await owner.get('/search/messages?q=harbours')).found).toMatchObject([{ thread: { thread_id: ours } }])
    expect(await owner.call('PUT', `/threads/${ours}`, { name: 'Still ours' })).toMatchObject({ status: 200 })
    expect(await counters()).toEqual([1, 1])
    await owner.delete(`/projects/${owner.projectId}?confirm=true`)
    expect(await own.get(`/threads/${mine}/state`)).toMatchObject({ values: { messages: [{}, {}] } })
    expect(await service.collections.projects.findOne({ 'leaving.user_id': editor.userId }).lean()).toBeNull()
  })

  it('hands them over if the owner who removes him says so', async () => {
    const { owner, own, editor, mine, ours, remove, counters } = await editorWithThreads()
    const { token } = await editor.post(`/threads/${mine}/share`)
    const page = { name: 'page.html', language: 'html', content: '<p>Ahoy</p>', base: 0 }
    await editor.put(`/threads/${mine}/documents/d`, page)
    await editor.put(`/threads/${ours}/documents/d`, page)
    expect(await remove(owner, '?private_threads=burn')).toMatchObject({ status: 422 })
    expect(await remove(owner, '?private_threads=hand_over')).toMatchObject({ status: 200 })
    const left: string[] = (await owner.get('/threads/')).threads.map(({ thread_id: id }: any) => id)
    expect(new Set(left)).toEqual(new Set([mine, ours]))
    expect(await owner.get(`/threads/${mine}`)).toMatchObject({
      visibility: 'private',
      created_by: { user_id: editor.userId },
    })
    expect((await own.get('/threads/')).threads).toEqual([])
    for (const at of [`/threads/${mine}`, `/threads/${ours}`, `/threads/${mine}/state`])
      expect([at, (await own.call('GET', at)).status]).toEqual([at, 404])
    expect(await own.call('GET', `/shared/${token}`)).toMatchObject({ status: 404 })
    expect(await counters()).toEqual([2, 0])
    // What stands in documents of the threads is no longer of his account, and so not of its deletion.
    const { documents } = service.collections
    expect(await documents.countDocuments({ user_id: editor.userId })).toBe(0)
    expect(await documents.countDocuments({ user_id: owner.userId })).toBe(2)
    await answered(owner, mine, 'And now?', 'Go on.')
    await owner.delete(`/threads/${mine}`)
    expect(await counters()).toEqual([1, 0])
    expect(await service.collections.runs.countDocuments({ thread_id: mine })).toBe(0)
  })

  it('gives them to the owner whose account holds the project if he leaves himself', async () => {
    const { owner, editor, mine, remove } = await editorWithThreads()
    const other = await joinProject(service, owner.projectId, 'owner')
    expect(await remove(editor, '?private_threads=hand_over')).toMatchObject({ status: 200 })
    expect(await owner.get(`/threads/${mine}`)).toMatchObject({ name: 'Mine' })
    expect(await other.call('GET', `/threads/${mine}`)).toMatchObject({ status: 404 })
  })

  it('leaves his schedules to the project, paused until an editor takes them over', async () => {
    const { owner, editor, schedule, remove } = await editorWithThreads()
    const next = await joinProject(service, owner.projectId, 'editor')
    const viewer = await joinProject(service, owner.projectId, 'viewer')
    expect(await next.call('GET', `/schedules/${schedule}`)).toMatchObject({ status: 404 })
    expect(await editor.call('POST', `/schedules/${schedule}/take-over`)).toMatchObject({ status: 409 })
    await remove(owner)
    const left = { schedule_id: schedule, awaits_takeover: true, paused: true, thread_id: null }
    expect((await next.get('/schedules/')).schedules).toMatchObject([
      { ...left, created_by: { user_id: editor.userId } },
    ])
    expect((await viewer.get('/schedules/')).schedules).toEqual([])
    expect(await owner.call('PATCH', `/schedules/${schedule}`, { paused: false })).toMatchObject({ status: 409 })
    expect(await viewer.call('POST', `/schedules/${schedule}/take-over`)).toMatchObject({ status: 403 })
    const results = await Promise.all(
      [next, owner, next].map((one) => one.call('POST', `/schedules/${schedule}/take-over`)),
    )
    expect(results.filter(({ status }) => status === 200)).toHaveLength(1)
    const stored = await service.collections.schedules.findById(schedule).lean()
    expect(stored).toMatchObject({ paused: false, created_by: editor.userId })
    expect([next.userId, owner.userId]).toContain(stored?.user_id)
    expect(stored?.awaits_takeover).toBeUndefined()
  })
})

describe('the archive of a member', () => {
  it('has his threads of projects that others hold, and is imported with them', async () => {
    const { owner, editor, own: client, mine, ours } = await editorWithThreads()
    const archive = await archiveOf(service, client)
    const text = gunzipSync(archive).toString()
    expect(text).toContain('A secret of harbours')
    const other = await insertUser(service)
    const { body: report } = await importInto(service, other, archive)
    expect(report.imported).toMatchObject({ threads: 2, messages: 4, runs: 2 })
    const threads = await service.collections.threads.find({ user_id: other.userId }).lean()
    const own = await service.collections.projects.find({ user_id: other.userId }, { _id: 1 }).lean()
    expect(threads.map(({ name }) => name).toSorted()).toEqual(['Mine', 'Ours'])
    for (const thread of threads) {
      expect(own.map(({ _id }) => _id)).toContain(thread.project_id)
      expect(thread.visibility).toBeUndefined()
      const { values } = await other.get(`/threads/${thread._id}/state`)
      expect(values.messages).toHaveLength(2)
      expect(JSON.stringify(values)).not.toContain(editor.userId)
    }
    expect((await owner.get('/threads/')).threads).toHaveLength(1)
    expect(threads.map(({ _id }) => _id)).not.toEqual(expect.arrayContaining([mine, ours]))
  })
})
