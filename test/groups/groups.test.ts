import { afterEach, describe, expect, it } from 'vitest'
import { everyone } from '../../domain/records/group.ts'
import { tokenOf } from '../projects/joined.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const service = useSharedService()
const operator = () => apiClient(service.url, service.env['ADMIN_TOKEN'])

let made = 0
async function newGroup(facts: object = {}) {
  const { group_id: id } = await operator().post('/admin/groups', {
    name: `Group ${++made} ${service.env['TASK_QUEUE_PREFIX']}`,
    ...facts,
  })
  return String(id)
}

/** A user in a group, and his API by a token of the project. */
async function inGroup(groupId: string, projectId: string) {
  const user = await insertUser(service)
  await operator().post(`/admin/groups/${groupId}/members`, { user_id: user.userId })
  const there = apiClient(service.url, await tokenOf(service, user.userId, projectId))
  return { ...user, there }
}

describe('a group', () => {
  it('gives its role in a project to whoever is in it, without an invitation', async () => {
    const owner = await insertUser(service)
    const group = await newGroup({ listed: true })
    const member = await inGroup(group, owner.projectId)
    expect(await member.there.call('GET', '/assistants/')).toMatchObject({ status: 403 })
    const path = `/projects/${owner.projectId}/members`
    const given = await owner.post(path, { group, role: 'viewer' })
    expect(given).toMatchObject({ group: { group_id: group }, role: 'viewer', status: 'active', email: '' })
    expect(await owner.call('POST', path, { group, role: 'editor' })).toMatchObject({ status: 409 })
    expect(await member.there.call('GET', '/assistants/')).toMatchObject({ status: 200, body: [] })
    expect(await member.there.call('POST', '/assistants/', { name: 'A' })).toMatchObject({ status: 403 })
    expect(await member.get('/projects/')).toContainEqual(
      expect.objectContaining({ project_id: owner.projectId, role: 'viewer' }),
    )
    await owner.patch(`${path}/${given.member_id}`, { role: 'editor' })
    const { assistant_id: id } = await member.there.post('/assistants/', { name: 'A' })
    // Threads and runs hold the project in transactions of their own.
    service.model.reply({ text: 'Hello.' })
    const { thread_id: threadId } = await member.there.post('/threads/', { assistant_id: id })
    const run = await member.there.post('/runs/', { thread_id: threadId, input: [{ type: 'human', content: 'Hi' }] })
    await eventually('the answer', async () => (await member.there.get(`/runs/${run.run_id}`)).status === 'success')
  })

  it('adds to what somebody may do himself: the highest counts', async () => {
    const owner = await insertUser(service)
    const group = await newGroup({ listed: true })
    const member = await inGroup(group, owner.projectId)
    const path = `/projects/${owner.projectId}/members`
    const given = await owner.post(path, { group, role: 'editor' })
    await service.collections.projects.updateOne(
      { _id: owner.projectId },
      {
        $push: {
          members: { id: 'himself', user_id: member.userId, role: 'viewer', email: '', created_at: new Date() },
        },
      },
    )
    expect(await member.there.call('POST', '/assistants/', { name: 'A' })).toMatchObject({ status: 200 })
    await owner.delete(`${path}/${given.member_id}`)
    expect(await member.there.call('GET', '/assistants/')).toMatchObject({ status: 200 })
    expect(await member.there.call('POST', '/assistants/', { name: 'B' })).toMatchObject({ status: 403 })
  })

  it('is one of several: the highest role counts, also when one of them is lowered in mid-run', async () => {
    const owner = await insertUser(service)
    const [crew, guests] = [await newGroup({ listed: true }), await newGroup({ listed: true })]
    const member = await inGroup(crew, owner.projectId)
    await operator().post(`/admin/groups/${guests}/members`, { user_id: member.userId })
    const path = `/projects/${owner.projectId}/members`
    const ofCrew = await owner.post(path, { group: crew, role: 'member' })
    const ofGuests = await owner.post(path, { group: guests, role: 'viewer' })
    const role = async () => {
      const projects = await member.get('/projects/')
      return projects.find(({ project_id: project }: any) => project === owner.projectId)?.role
    }
    expect(await role()).toBe('member')
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'A' })
    const { thread_id: threadId } = await member.there.post('/threads/', { assistant_id: id })
    const input = [{ type: 'human', content: 'Hi' }]
    const ask = () => member.there.call('POST', '/runs/', { thread_id: threadId, input })
    const gate = Promise.withResolvers<void>()
    const { arrived } = service.model.reply({ text: ['A long ', gate.promise, 'answer.'] })
    const { body: run } = await ask()
    await arrived
    await owner.patch(`${path}/${ofCrew.member_id}`, { role: 'viewer' })
    gate.resolve()
    // He still uses the project: what he began ends as usual.
    await eventually('the answer', async () => (await member.there.get(`/runs/${run.run_id}`)).status === 'success')
    expect(await role()).toBe('viewer')
    expect(await ask()).toMatchObject({ status: 403 })
    await owner.patch(`${path}/${ofGuests.member_id}`, { role: 'editor' })
    expect(await role()).toBe('editor')
    service.model.reply({ text: 'Hello.' })
    expect(await ask()).toMatchObject({ status: 200 })
    await operator().delete(`/admin/groups/${guests}`)
    expect(await role()).toBe('viewer')
  })

  it.each(['is taken out of it', 'loses it with the project', 'loses it as it is deleted'] as const)(
    'who %s in mid-run keeps what was answered, and starts nothing more',
    async (how) => {
      const owner = await insertUser(service)
      const group = await newGroup({ listed: true })
      const member = await inGroup(group, owner.projectId)
      const path = `/projects/${owner.projectId}/members`
      const given = await owner.post(path, { group, role: 'editor' })
      const { assistant_id: id } = await owner.post('/assistants/', { name: 'A' })
      const input = [{ type: 'human', content: 'Hi' }]
      const schedule = await member.there.post('/schedules/', { assistant_id: id, input, cron: '0 7 1 1 *' })
      const thread = await member.there.post('/threads/', { assistant_id: id })
      const gate = Promise.withResolvers<void>()
      const { arrived } = service.model.reply({ text: ['A long ', gate.promise, 'answer.'] })
      const run = await member.there.post('/runs/', { thread_id: thread.thread_id, input })
      await arrived
      if (how === 'is taken out of it') await operator().delete(`/admin/groups/${group}/members/${member.userId}`)
      else if (how === 'loses it with the project') await owner.delete(`${path}/${given.member_id}`)
      else await operator().delete(`/admin/groups/${group}`)
      gate.resolve()
      expect(await member.there.call('GET', `/runs/${run.run_id}`)).toMatchObject({ status: 403 })
      const own = apiClient(service.url, await tokenOf(service, member.userId, member.projectId))
      expect(await own.get(`/runs/${run.run_id}`)).toMatchObject({ status: 'cancelled' })
      const left = await service.collections.schedules.findById(schedule.schedule_id).lean()
      expect(left).toMatchObject({ paused: true, awaits_takeover: true, user_id: owner.userId })
      const project = await service.collections.projects.findById(owner.projectId).lean()
      expect([project?.leaving, project?.left_groups]).toEqual([undefined, undefined])
      const user = await service.collections.users.findById(member.userId).lean()
      expect(user?.left_groups).toBeUndefined()
    },
  )

  it('is left by a sweep when the request that took somebody out did not get to it', async () => {
    const owner = await insertUser(service)
    const group = await newGroup({ listed: true })
    const member = await inGroup(group, owner.projectId)
    await owner.post(`/projects/${owner.projectId}/members`, { group, role: 'editor' })
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'A' })
    const input = [{ type: 'human', content: 'Hi' }]
    const { schedule_id: scheduleId } = await member.there.post('/schedules/', {
      assistant_id: id,
      input,
      cron: '0 7 1 1 *',
    })
    await service.collections.users.updateOne(
      { _id: member.userId },
      { $pull: { group_ids: group }, $addToSet: { left_groups: group } },
    )
    await service.api.platform.members.sweepDepartures()
    expect(await service.collections.schedules.findById(scheduleId).lean()).toMatchObject({ paused: true })
  })

  it.each(['loses its role in the project', 'is deleted'])(
    'leaves nobody behind who is out of it, but not yet out of the project, when it %s',
    async (how) => {
      const owner = await insertUser(service)
      const group = await newGroup({ listed: true })
      const member = await inGroup(group, owner.projectId)
      const path = `/projects/${owner.projectId}/members`
      const given = await owner.post(path, { group, role: 'editor' })
      const { assistant_id: id } = await owner.post('/assistants/', { name: 'A' })
      const input = [{ type: 'human', content: 'Hi' }]
      const schedule = await member.there.post('/schedules/', { assistant_id: id, input, cron: '0 7 1 1 *' })
      // As a process leaves it that dies after its first write.
      await service.collections.users.updateOne(
        { _id: member.userId },
        { $pull: { group_ids: group }, $addToSet: { left_groups: group } },
      )
      if (how === 'is deleted') await operator().delete(`/admin/groups/${group}`)
      else await owner.delete(`${path}/${given.member_id}`)
      await service.api.platform.members.sweepDepartures()
      const left = await service.collections.schedules.findById(schedule.schedule_id).lean()
      expect(left).toMatchObject({ paused: true, awaits_takeover: true, user_id: owner.userId })
    },
  )

  it('has people with budgets of their own, whose usage is listed while they are in it', async () => {
    const owner = await insertUser(service)
    const group = await newGroup({ listed: true })
    const [member, idle] = [await inGroup(group, owner.projectId), await inGroup(group, owner.projectId)]
    const path = `/projects/${owner.projectId}`
    await owner.post(`${path}/members`, { group, role: 'member' })
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'A' })
    const ask = async () => {
      const { thread_id: threadId } = await member.there.post('/threads/', { assistant_id: id })
      const input = [{ type: 'human', content: 'Hi' }]
      const { status, body } = await member.there.call('POST', '/runs/', { thread_id: threadId, input })
      if (status === 200) await member.there.call('GET', `/runs/${body.run_id}/stream`)
      return status
    }
    service.model.reply({ text: 'Hello.' })
    expect(await ask()).toBe(200)
    const { members } = await owner.get(`${path}/usage`)
    expect(members).toContainEqual(
      expect.objectContaining({ member_id: member.userId, user_id: member.userId, name: member.email, runs: 1 }),
    )
    expect(members.map(({ user_id: userId }: any) => userId)).not.toContain(idle.userId)
    const budget = `${path}/members/${member.userId}/budget`
    expect(await owner.call('PUT', budget, { runs: 1 })).toMatchObject({
      status: 200,
      body: { limits: { runs: 1 }, used: { runs: 1 } },
    })
    expect(await ask()).toBe(429)
    const stranger = await insertUser(service)
    expect(await owner.call('GET', `${path}/members/${stranger.userId}/budget`)).toMatchObject({ status: 404 })
    // Nobody else keeps it when he deletes his account.
    const budgetIs = () =>
      service.collections.budgets.countDocuments({ _id: `member/${owner.projectId}/${member.userId}` })
    expect(await budgetIs()).toBe(1)
    await member.delete('/auth/delete-user', { email_confirmation: member.email })
    expect(await budgetIs()).toBe(0)
  })

  it('is seen by those who are in it, and by all if it is listed', async () => {
    const owner = await insertUser(service)
    const hidden = await newGroup()
    const listed = await newGroup({ listed: true })
    const ids = async () => (await owner.get('/groups?limit=1000')).groups.map(({ group_id: id }: any) => id)
    expect(await ids()).toContain(listed)
    expect(await ids()).not.toContain(hidden)
    const path = `/projects/${owner.projectId}/members`
    expect(await owner.call('POST', path, { group: hidden, role: 'viewer' })).toMatchObject({ status: 422 })
    expect(await owner.call('POST', path, { group: hidden, email: 'a@example.com', role: 'viewer' })).toMatchObject({
      status: 422,
    })
    await operator().post(`/admin/groups/${hidden}/members`, { user_id: owner.userId })
    expect(await ids()).toContain(hidden)
    expect(await owner.call('POST', path, { group: hidden, role: 'viewer' })).toMatchObject({ status: 200 })
  })

  it('refuses names that are taken, users that do not exist, and changes of everybody', async () => {
    const group = await newGroup()
    const { name } = await operator().get(`/admin/groups/${group}`)
    expect(await operator().call('POST', '/admin/groups', { name: ` ${name.toUpperCase()}` })).toMatchObject({
      status: 409,
    })
    expect(await operator().call('POST', '/admin/groups', { name: '  ' })).toMatchObject({ status: 400 })
    expect(await operator().call('POST', `/admin/groups/${group}/members`, { user_id: 'nobody' })).toMatchObject({
      status: 422,
    })
    for (const [method, path, body] of [
      ['DELETE', `/admin/groups/${everyone}`],
      ['PATCH', `/admin/groups/${everyone}`, { name: 'Us' }],
      ['POST', `/admin/groups/${everyone}/members`, { user_id: 'nobody' }],
    ] as const)
      expect([path, await operator().call(method, path, body)]).toMatchObject([path, { status: 409 }])
    expect(await operator().call('GET', '/admin/groups/none')).toMatchObject({ status: 404 })
  })
})

describe('a project that is shared with a group only', () => {
  async function shared(role: string) {
    const owner = await insertUser(service)
    const group = await newGroup({ listed: true })
    const away = await inGroup(group, owner.projectId)
    const member = await inGroup(group, owner.projectId)
    await service.collections.users.updateOne({ _id: away.userId }, { $set: { deactivated_at: new Date() } })
    const path = `/projects/${owner.projectId}`
    const given = await owner.post(`${path}/members`, { group, role })
    await owner.post('/assistants/', { name: 'A' })
    const remove = (more: object = {}) =>
      owner.call('DELETE', '/auth/delete-user', { email_confirmation: owner.email, ...more })
    return { owner, group, member, away, path, given, remove }
  }

  it('is not deleted unasked with the account that holds it, and can be handed over', async () => {
    const { owner, member, remove } = await shared('editor')
    expect(await remove()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('main') } })
    const { body } = await remove({ shared_projects: 'hand_over' })
    expect(await owner.get(`/receipts/${body.receipt_id}`)).toMatchObject({
      projects: [{ project_id: owner.projectId, outcome: 'handed_over', to: member.userId }],
    })
    expect(await member.there.get('/assistants/')).toMatchObject([{ name: 'A' }])
  })

  it('goes to an owner by the group, never to one who cannot log in', async () => {
    const { owner, member, remove } = await shared('owner')
    const other = await insertUser(service)
    const closed = { id: 'closed', user_id: other.userId, role: 'owner' as const, email: '', created_at: new Date() }
    await service.collections.projects.updateOne({ _id: owner.projectId }, { $push: { members: closed } })
    await service.collections.users.updateOne({ _id: other.userId }, { $set: { deactivated_at: new Date() } })
    expect(await owner.call('PUT', `/projects/${owner.projectId}/holder`, { member_id: 'closed' })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('closed at present') },
    })
    expect(await remove()).toMatchObject({ status: 200 })
    expect(await service.collections.projects.findById(owner.projectId).lean()).toMatchObject({
      user_id: member.userId,
    })
  })

  it('is given to one of its people by name, not to the group', async () => {
    const { owner, given } = await shared('owner')
    expect(
      await owner.call('PUT', `/projects/${owner.projectId}/holder`, { member_id: given.member_id }),
    ).toMatchObject({ status: 409, body: { detail: expect.stringContaining('invite one of its people') } })
  })
})

describe('groups that a provider claims', () => {
  const issuer = 'https://login.example.com'
  const noteClaims = async (userId: string, names: string[], claim = 'groups') => {
    const user = await service.collections.users.findById(userId).lean()
    await service.api.platform.members.noteClaims(user ?? { _id: userId }, issuer, new Map([[claim, names]]))
  }
  const groupsOf = async (user: { get(path: string): Promise<any> }) =>
    (await user.get('/groups?limit=1000')).groups.filter(({ source }: any) => source === 'provider')

  it('follow each login, and are none of those that operators made', async () => {
    const name = `Staff ${service.env['TASK_QUEUE_PREFIX']}`
    const { group_id: ofOperators } = await operator().post('/admin/groups', { name })
    const owner = await insertUser(service)
    const [ada, ben] = await Promise.all([insertUser(service), insertUser(service)])
    await Promise.all([ada, ben, owner].map(({ userId }) => noteClaims(userId, [name, 'Crew'])))
    const [staff] = (await groupsOf(owner)).filter((group: any) => group.name === name)
    expect(staff.group_id).not.toBe(ofOperators)
    expect(await groupsOf(ada)).toEqual(await groupsOf(ben))
    const { members } = await operator().get(`/admin/groups/${ofOperators}/members`)
    expect(members).toEqual([])
    // Of another claim, it is another group.
    await noteClaims(ben.userId, [name], 'roles')
    expect((await groupsOf(ben)).map(({ group_id: id }: any) => id)).not.toContain(staff.group_id)
    await owner.post(`/projects/${owner.projectId}/members`, { group: staff.group_id, role: 'viewer' })
    const there = apiClient(service.url, await tokenOf(service, ada.userId, owner.projectId))
    expect(await there.call('GET', '/assistants/')).toMatchObject({ status: 200 })
    await noteClaims(ada.userId, ['Crew'])
    expect(await there.call('GET', '/assistants/')).toMatchObject({ status: 403 })
    expect(
      await operator().call('POST', `/admin/groups/${staff.group_id}/members`, { user_id: ada.userId }),
    ).toMatchObject({ status: 409 })
  })
})

describe('what an operator allows', () => {
  /** Everybody, and this group. Nothing else runs in this process meanwhile. */
  async function limit(group: string, everybody: object, members: object) {
    await operator().patch(`/admin/groups/${everyone}`, { allowed: everybody })
    await operator().patch(`/admin/groups/${group}`, { allowed: members })
    // Other processes notice it within two seconds.
    service.worker?.platform.core.allowances.forget()
  }
  const lift = () => limit(lifted, { models: null, tool_types: null, hosts: null }, {})
  let lifted = ''
  afterEach(lift)

  it('is offered, and everything else is refused with its name', async () => {
    const group = (lifted = await newGroup())
    const [inside, outside] = [await insertUser(service), await insertUser(service)]
    await operator().post(`/admin/groups/${group}/members`, { user_id: inside.userId })
    const { models } = await outside.get('/user/models')
    const model = String(models[0].id)
    await limit(
      group,
      { models: ['another-model'], tool_types: ['web_search'], hosts: ['open.example'] },
      { models: [model], tool_types: ['http_request'] },
    )
    const listed = async (user: typeof inside) => ({
      models: (await user.get('/user/models')).models.map(({ id }: any) => id),
      v1: (await user.get('/v1/models')).data.map(({ id }: any) => id).includes(model),
      tools: (await user.get('/tools/')).map(({ type }: any) => type),
    })
    expect(await listed(outside)).toEqual({ models: [], v1: false, tools: ['retrieval', 'web_search'] })
    expect(await listed(inside)).toMatchObject({ models: [model], v1: true })
    expect((await listed(inside)).tools.toSorted()).toEqual(['http_request', 'retrieval', 'web_search'])
    const start = async (user: typeof inside) => {
      const config = { 'type==agent/tools': [{ type: 'http_request' }, { type: 'schedule' }] }
      const { assistant_id: id } = await user.post('/assistants/', { name: 'A', config })
      const { thread_id: threadId } = await user.post('/threads/', { assistant_id: id })
      return user.call('POST', '/runs/', { thread_id: threadId, input: [{ type: 'human', content: 'Hi' }] })
    }
    expect(await start(outside)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining(model) },
    })
    const chat = { model, messages: [{ role: 'user', content: 'Hi' }] }
    expect(await outside.call('POST', '/v1/chat/completions', chat)).toMatchObject({ status: 403 })
    const call = { method: 'GET', url: 'https://closed.example/' }
    service.model.reply({ toolCalls: [{ name: 'http_request', arguments: call }] })
    service.model.reply({ text: 'Done.' })
    const { body: run } = await start(inside)
    await eventually('the end', async () => (await inside.get(`/runs/${run.run_id}`)).status === 'success')
    const [asked] = service.model.requests.slice(-2)
    expect(asked?.body.tools?.map((tool: any) => tool.function.name)).toEqual(['http_request'])
    const { values } = await inside.get(`/threads/${run.thread_id}/state`)
    expect(JSON.stringify(values)).toContain('does not allow you the host closed.example')
  })
})

it('without SCIM_TOKEN there is no provisioning', async () => {
  const anybody = apiClient(service.url, service.env['ADMIN_TOKEN'])
  expect(await anybody.call('GET', '/scim/v2/Users')).toMatchObject({ status: 404 })
})
