import { describe, expect, it } from 'vitest'
import { memberNamed } from '../../services/person-named.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { joinProject, tokenOf } from './joined.ts'

const service = useSharedService()

const said = (content: string) => [{ type: 'human', content }]

/** A project with what belongs to it, and another owner. */
async function fullProject() {
  const holder = await insertUser(service)
  const { projectId } = holder
  const config = { 'type==agent/access_mode': 'public_no_auth', 'type==agent/tools': [{ type: 'memory' }] }
  const { assistant_id: assistantId } = await holder.post('/assistants/', { name: 'A', config })
  const form = new FormData()
  form.set('purpose', 'assistants')
  form.set('file', new Blob(['Ships and harbours.']), 'ships.txt')
  const headers = { authorization: `Bearer ${holder.token}` }
  const uploaded = await fetch(`${service.url}/v1/files`, { method: 'POST', headers, body: form })
  const { id: fileId }: any = await uploaded.json()
  const { id: storeId } = await holder.post('/v1/vector_stores', { name: 'S', file_ids: [fileId] })
  await holder.call('PUT', `/projects/${projectId}/budget`, { runs: 1000 })
  const fact = await holder.post('/memory/', { text: 'Likes sailing.', assistant_id: assistantId })
  const mine = await holder.post('/threads/', { name: 'Mine', assistant_id: assistantId })
  const schedule = await holder.post('/schedules/', {
    assistant_id: assistantId,
    input: said('Hi'),
    cron: '0 7 1 1 *',
  })
  service.model.reply({ text: 'Hello, whoever you are.' })
  const asked = await fetch(`${service.url}/public/runs/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ assistant_id: assistantId, input: said('Hi') }),
  })
  const publicThread = /"thread_id":"([^"]+)"/.exec(await asked.text())?.[1] ?? ''
  const other = await joinProject(service, projectId, 'owner')
  return {
    holder,
    other,
    projectId,
    assistantId,
    fileId,
    storeId,
    factId: fact.memory_id,
    threadId: mine.thread_id,
    scheduleId: schedule.schedule_id,
    publicThread,
  }
}

const holderPath = (projectId: string) => `/projects/${projectId}/holder`

describe('the account that holds a project', () => {
  it('is another after it was given to an owner, with all that belongs to the project', async () => {
    const { holder, other, projectId, assistantId, fileId, storeId, factId, threadId, scheduleId, publicThread } =
      await fullProject()
    const editor = await joinProject(service, projectId, 'editor')
    const give = (client: any, memberId: string) => client.call('PUT', holderPath(projectId), { member_id: memberId })
    expect(await give(other, other.memberId)).toMatchObject({ status: 403 })
    expect(await give(holder, editor.memberId)).toMatchObject({ status: 409 })
    expect(await give(holder, 'nobody')).toMatchObject({ status: 404 })
    expect(await give(holder, other.memberId)).toMatchObject({
      status: 200,
      body: { name: 'main (2)', role: 'owner', owner: { user_id: other.userId } },
    })
    for (const client of [holder, other, editor]) {
      expect((await client.get('/assistants/')).map(({ assistant_id: id }: any) => id)).toEqual([assistantId])
      expect((await client.get('/v1/files')).data).toMatchObject([{ id: fileId }])
      expect((await client.get('/v1/vector_stores')).data).toMatchObject([{ id: storeId }])
    }
    expect((await holder.get(`/projects/${projectId}/members`)).members).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ member_id: other.userId, user_id: other.userId, role: 'owner' }),
        expect.objectContaining({ user_id: holder.userId, role: 'owner' }),
      ]),
    )
    expect(await other.get(`/projects/${projectId}/budget`)).toMatchObject({ limits: { runs: 1000 } })
    expect(publicThread).not.toBe('')
    expect(await other.get(`/threads/${publicThread}`)).toMatchObject({ project_id: projectId })
    expect(await holder.call('GET', `/threads/${publicThread}`)).toMatchObject({ status: 404 })
    // What is his stays his.
    expect((await holder.get('/threads/')).threads).toMatchObject([{ thread_id: threadId }])
    expect((await other.get('/threads/')).threads).toEqual([])
    expect(await holder.get('/memory/')).toMatchObject([{ memory_id: factId, assistant_id: null }])
    const schedule = await service.collections.schedules.findById(scheduleId).lean()
    expect(schedule).toMatchObject({ user_id: holder.userId, person: memberNamed(holder.userId) })
    await other.post('/memory/', { text: 'Likes hills.' })
    service.model.reply({ text: 'Hello.' })
    const run = await holder.post('/runs/', { thread_id: threadId, input: said('Hi') })
    await holder.call('GET', `/runs/${run.run_id}/stream`)
    expect(JSON.stringify(service.model.requests.at(-1))).not.toMatch(/hills|sailing/)
    // His account does not take it with it.
    await holder.delete('/auth/delete-user', { email_confirmation: holder.email })
    expect((await other.get('/assistants/')).map(({ assistant_id: id }: any) => id)).toEqual([assistantId])
    expect((await other.get('/v1/files')).data).toHaveLength(1)
  })

  it('is one, whatever happens at once', async () => {
    const holder = await insertUser(service)
    const { projectId } = holder
    const other = await joinProject(service, projectId, 'owner')
    const third = await joinProject(service, projectId, 'owner')
    const members = `/projects/${projectId}/members`
    const requests = Array.from({ length: 64 }, (_, at) => {
      const by = [holder, other, third][at % 3] ?? holder
      const whom = [other.memberId, third.memberId, holder.userId][at % 7 === 0 ? 2 : at % 2] ?? ''
      if (at % 4 === 0) return by.call('PATCH', `${members}/${whom}`, { role: 'viewer' })
      if (at % 4 === 1) return by.call('PUT', holderPath(projectId), { member_id: whom })
      return by.call('DELETE', `${members}/${whom}`)
    })
    const statuses = new Set((await Promise.all(requests)).map(({ status }) => status))
    expect([...statuses].filter((status) => ![200, 403, 404, 409].includes(status))).toEqual([])
    const project = await service.collections.projects.findById(projectId).lean()
    const owners = [
      project?.user_id,
      ...(project?.members ?? []).filter(({ role }) => role === 'owner').map((one) => one.user_id),
    ]
    expect(new Set(owners).size).toBe(owners.length)
    expect([holder.userId, other.userId, third.userId]).toContain(project?.user_id)
    const last = apiClient(service.url, await tokenOf(service, project?.user_id ?? '', projectId))
    expect((await last.get(members)).members[0]).toMatchObject({ role: 'owner', user_id: project?.user_id })
  })
})

describe('64 requests at once', () => {
  it('that remove and demote the last two owners leave one', async () => {
    const holder = await insertUser(service)
    const other = await joinProject(service, holder.projectId, 'owner')
    const members = `/projects/${holder.projectId}/members`
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, at) => {
        const [by, whom] = at % 2 === 0 ? [holder, other.memberId] : [other, holder.userId]
        return at % 4 < 2
          ? by.call('DELETE', `${members}/${whom}`)
          : by.call('PATCH', `${members}/${whom}`, { role: 'viewer' })
      }),
    )
    expect(answers.map(({ status }) => status).filter((status) => ![200, 403, 404, 409].includes(status))).toEqual([])
    const { members: left } = await holder.get(members)
    expect(left.filter(({ role }: any) => role === 'owner')).toMatchObject([{ user_id: holder.userId }])
  })
})

describe('whoever deletes the account that holds shared projects', () => {
  async function deleted(user: Awaited<ReturnType<typeof insertUser>>, more = {}) {
    const answer = await user.call('DELETE', '/auth/delete-user', { email_confirmation: user.email, ...more })
    const receipt =
      [200, 202].includes(answer.status) && answer.body.receipt_id !== undefined
        ? await eventually('the receipt', async () => {
            const found = await user.get(`/receipts/${answer.body.receipt_id}`)
            return found.status === 'complete' ? found : undefined
          })
        : undefined
    return { ...answer, receipt }
  }

  it('hands each over to its other owner', async () => {
    const { holder, other, projectId, assistantId } = await fullProject()
    const editor = await joinProject(service, projectId, 'editor')
    const { status, receipt } = await deleted(holder)
    expect(status).toBe(200)
    expect(receipt).toMatchObject({
      projects: [{ project_id: projectId, outcome: 'handed_over', to: other.userId }],
      left: expect.objectContaining({ handed_over_projects: 0, projects: 0, assistants: 0 }),
    })
    expect((await editor.get('/assistants/')).map(({ assistant_id: id }: any) => id)).toEqual([assistantId])
    expect(await service.collections.projects.findById(projectId).lean()).toMatchObject({ user_id: other.userId })
    for (const collection of ['assistants', 'files', 'schedules', 'memories', 'budgets', 'threads', 'runs'] as const)
      expect([
        collection,
        await (service.collections[collection] as typeof service.collections.runs).countDocuments({
          user_id: holder.userId,
        }),
      ]).toEqual([collection, 0])
  })

  it('says what becomes of those without another owner', async () => {
    const holder = await insertUser(service)
    const member = await joinProject(service, holder.projectId, 'member')
    const editor = await joinProject(service, holder.projectId, 'editor')
    await holder.post('/assistants/', { name: 'A' })
    const asked = await deleted(holder)
    expect(asked).toMatchObject({ status: 409, body: { detail: expect.stringContaining('main') } })
    expect(await deleted(holder, { shared_projects: 'keep' })).toMatchObject({ status: 422 })
    const { receipt } = await deleted(holder, { shared_projects: 'hand_over' })
    expect(receipt?.projects).toEqual([{ project_id: holder.projectId, outcome: 'handed_over', to: editor.userId }])
    expect(await editor.get('/assistants/')).toHaveLength(1)
    expect((await member.get(`/projects/${holder.projectId}/members`)).members).toMatchObject([
      { user_id: editor.userId, role: 'owner' },
      { user_id: member.userId, role: 'member' },
    ])
  })

  it('deletes them if he says so', async () => {
    const holder = await insertUser(service)
    const member = await joinProject(service, holder.projectId, 'member')
    const { receipt } = await deleted(holder, { shared_projects: 'delete' })
    expect(receipt?.projects).toEqual([{ project_id: holder.projectId, outcome: 'deleted' }])
    expect(await member.call('GET', '/assistants/')).toMatchObject({ status: 403 })
  })

  it('leaves what he has said in chats of others, without his name', async () => {
    const owner = await insertUser(service)
    const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'A' })
    const shared = { assistant_id: assistantId, visibility: 'project', project_access: 'continue' }
    const { thread_id: threadId } = await owner.post('/threads/', shared)
    const member = await joinProject(service, owner.projectId, 'member')
    service.model.reply({ text: 'Hello.' })
    const run = await member.post('/runs/', { thread_id: threadId, input: said('It is me') })
    await member.call('GET', `/runs/${run.run_id}/stream`)
    await member.post('/runs/feedback', { run_id: run.run_id, key: 'helpful', comment: 'Very' })
    const { receipt } = await deleted(member)
    expect(receipt).toMatchObject({
      found: expect.objectContaining({ runs_in_chats_of_others: 1, feedback: 1 }),
      left: expect.objectContaining({ runs_in_chats_of_others: 0, feedback: 0 }),
    })
    const { values, authors } = await owner.get(`/threads/${threadId}/state`)
    expect(values.messages[0].data.content).toBe('It is me')
    expect(authors).toEqual([expect.objectContaining({ user_id: owner.userId })])
    expect(await owner.get(`/runs/${run.run_id}`)).toMatchObject({ status: 'success' })
  })
})
