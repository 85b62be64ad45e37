import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { mailTo, mailsTo } from '../support/mailbox.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser, newEmail } from '../support/users.ts'
import { joinProject, tokenOf } from './joined.ts'

const service = useSharedService()

const invitationIn = (text: string) => /invitations\?token=([\w.-]+)/.exec(text)?.[1] ?? ''
const membersPath = (projectId: string) => `/projects/${projectId}/members`

async function invited(email: string, role = 'member') {
  const owner = await insertUser(service)
  const member = await owner.post(membersPath(owner.projectId), { email, role })
  return { owner, member, token: invitationIn((await mailTo(email)).text) }
}

describe('an invitation', () => {
  it('makes whoever has its address a member, once', async () => {
    const guest = await insertUser(service)
    const { owner, member, token } = await invited(guest.email)
    expect(member).toMatchObject({ status: 'invited', email: guest.email, role: 'member' })
    expect(member).not.toHaveProperty('user_id')
    expect((await guest.get('/projects/')).map(({ name }: any) => name)).toEqual(['main'])
    const results = await Promise.all(
      Array.from({ length: 4 }, () => guest.call('POST', `/invitations/${token}/accept`)),
    )
    expect(results.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404, 404])
    const { body } = results.find(({ status }) => status === 200) ?? {}
    expect(decodeJwt(body.jwt_token)).toMatchObject({ user_id: guest.userId, project_id: owner.projectId })
    expect((await owner.get(membersPath(owner.projectId))).members).toEqual([
      expect.objectContaining({ user_id: owner.userId, role: 'owner', status: 'active' }),
      expect.objectContaining({
        member_id: member.member_id,
        user_id: guest.userId,
        role: 'member',
        status: 'active',
        email: guest.email,
      }),
    ])
    expect(await guest.get('/projects/')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          project_id: owner.projectId,
          role: 'member',
          owner: expect.objectContaining({ user_id: owner.userId, email: owner.email }),
        }),
        expect.objectContaining({ project_id: guest.projectId, role: 'owner' }),
      ]),
    )
    const { body: exchanged } = await guest.call('GET', `/projects/${owner.projectId}`)
    expect((await apiClient(service.url, exchanged.jwt_token).call('GET', '/assistants/')).status).toBe(200)
  })

  it('is for its address only, which must be confirmed', async () => {
    const email = newEmail()
    const { token } = await invited(email)
    const other = await insertUser(service)
    expect(await other.call('POST', `/invitations/${token}/accept`)).toMatchObject({ status: 403 })
    const guest = await insertUser(service)
    await service.collections.users.updateOne({ _id: guest.userId }, { $set: { email, verified: false } })
    expect(await guest.call('POST', `/invitations/${token}/accept`)).toMatchObject({ status: 403 })
    await service.collections.users.updateOne({ _id: guest.userId }, { $set: { verified: true } })
    expect(await guest.call('POST', `/invitations/${token}/accept`)).toMatchObject({ status: 200 })
    expect(await other.call('POST', `/invitations/${'x'.repeat(40)}/accept`)).toMatchObject({ status: 404 })
  })

  it('shows its receiver what it offers, and later that it was accepted', async () => {
    const guest = await insertUser(service)
    const { owner, member, token } = await invited(guest.email, 'editor')
    expect(Date.parse(member.expires_at) - Date.now()).toBeGreaterThan(6.9 * 24 * 3600_000)
    const look = (user: typeof guest, link = token) => user.call('GET', `/invitations/${link}`)
    const offered = {
      project_id: owner.projectId,
      name: 'main',
      role: 'editor',
      status: 'open',
      owner: { user_id: owner.userId, email: owner.email },
      expires_at: member.expires_at,
    }
    expect(await look(guest)).toMatchObject({ status: 200, body: offered })
    const other = await insertUser(service)
    expect(await look(other)).toMatchObject({ status: 403 })
    expect(await look(guest, `${member.member_id}.${'x'.repeat(43)}`)).toMatchObject({ status: 404 })
    expect(await look(owner)).toMatchObject({ status: 403 })
    await guest.post(`/invitations/${token}/accept`)
    expect(await look(guest)).toMatchObject({ status: 200, body: { status: 'member', role: 'editor' } })
    expect(await look(other)).toMatchObject({ status: 404 })
    const { members } = await owner.get(membersPath(owner.projectId))
    expect(members.at(-1)).not.toHaveProperty('expires_at')
    await owner.delete(`${membersPath(owner.projectId)}/${member.member_id}`)
    expect(await look(guest)).toMatchObject({ status: 404 })
  })

  it('outlives an account that has its address without a proof', async () => {
    const email = newEmail()
    const { owner, member } = await invited(email)
    const guest = await insertUser(service)
    await service.collections.users.updateOne({ _id: guest.userId }, { $set: { email, verified: false } })
    await guest.delete('/auth/delete-user', { email_confirmation: email })
    const { members } = await owner.get(membersPath(owner.projectId))
    expect(members).toContainEqual(expect.objectContaining({ member_id: member.member_id, status: 'invited' }))
  })

  it('is void when it is sent again, revoked, or seven days old', async () => {
    const guest = await insertUser(service)
    const { owner, member, token } = await invited(guest.email)
    const again = await owner.post(membersPath(owner.projectId), {
      email: ` ${guest.email.toUpperCase()}`.trim(),
      role: 'editor',
    })
    expect(again).toMatchObject({ member_id: member.member_id, role: 'editor' })
    const second = invitationIn((await mailTo(guest.email, 2)).text)
    expect(second).not.toBe(token)
    expect(await guest.call('POST', `/invitations/${token}/accept`)).toMatchObject({ status: 404 })
    const past = { $set: { 'members.0.invitation.expires_at': new Date(Date.now() - 1) } }
    await service.collections.projects.updateOne({ _id: owner.projectId }, past)
    expect(await guest.call('POST', `/invitations/${second}/accept`)).toMatchObject({ status: 404 })
    expect((await owner.get(membersPath(owner.projectId))).members).toHaveLength(1)
    const third = await owner.post(membersPath(owner.projectId), { email: guest.email, role: 'viewer' })
    const link = invitationIn((await mailTo(guest.email, 3)).text)
    await owner.delete(`${membersPath(owner.projectId)}/${third.member_id}`)
    expect(await guest.call('POST', `/invitations/${link}/accept`)).toMatchObject({ status: 404 })
  })

  it('tells nobody whether an address has an account', async () => {
    const guest = await insertUser(service)
    const owner = await insertUser(service)
    const answers = await Promise.all(
      [guest.email, newEmail()].map((email) => owner.post(membersPath(owner.projectId), { email, role: 'member' })),
    )
    const plain = ({ member_id: _id, email: _email, created_at: _at, expires_at: _end, ...rest }: any) => rest
    expect(plain(answers[0])).toEqual(plain(answers[1]))
    const byId = await owner.post(membersPath(owner.projectId), {
      user_id: (await insertUser(service)).userId,
      role: 'member',
    })
    expect(byId).toMatchObject({ status: 'invited', email: '' })
    expect(byId).not.toHaveProperty('user_id')
    const byNobody = await owner.post(membersPath(owner.projectId), { user_id: newEmail(), role: 'member' })
    expect(plain(byNobody)).toEqual(plain(byId))
  })

  it('reaches somebody who is named by the id of the account', async () => {
    const owner = await insertUser(service)
    const guest = await insertUser(service)
    await owner.post(membersPath(owner.projectId), { user_id: guest.userId, role: 'viewer' })
    const token = invitationIn((await mailTo(guest.email)).text)
    expect(await guest.call('POST', `/invitations/${token}/accept`)).toMatchObject({ status: 200 })
    expect(
      await owner.call('POST', membersPath(owner.projectId), { user_id: guest.userId, role: 'viewer' }),
    ).toMatchObject({ status: 409 })
    expect(await mailsTo(guest.email)).toHaveLength(1)
  })

  it.each([
    [{ email: 'a@example.com', role: 'boss' }, 422],
    [{ role: 'member' }, 422],
    [{ email: 'a@example.com', user_id: 'x', role: 'member' }, 422],
    [{ email: 'nothing', role: 'member' }, 422],
  ])('with %j is refused with %i', async (body, status) => {
    const owner = await insertUser(service)
    expect(await owner.call('POST', membersPath(owner.projectId), body)).toMatchObject({ status })
  })
})

describe('the members of a project', () => {
  it('are changed and removed by owners only, and may leave', async () => {
    const owner = await insertUser(service)
    const editor = await joinProject(service, owner.projectId, 'editor')
    const second = await joinProject(service, owner.projectId, 'owner')
    const viewer = await joinProject(service, owner.projectId, 'viewer')
    const path = membersPath(owner.projectId)
    expect(await editor.call('PATCH', `${path}/${viewer.memberId}`, { role: 'owner' })).toMatchObject({ status: 403 })
    expect(await editor.call('DELETE', `${path}/${viewer.memberId}`)).toMatchObject({ status: 403 })
    expect(await second.call('PATCH', `${path}/${viewer.memberId}`, { role: 'member' })).toMatchObject({ status: 200 })
    expect(await second.call('PATCH', `${path}/${viewer.memberId}`, { role: 'boss' })).toMatchObject({ status: 422 })
    expect(await second.call('PATCH', `${path}/nobody`, { role: 'member' })).toMatchObject({ status: 404 })
    expect(await viewer.call('DELETE', `${path}/${viewer.memberId}`)).toMatchObject({ status: 200 })
    expect(await viewer.call('GET', '/assistants/')).toMatchObject({ status: 403 })
    expect(await viewer.call('GET', path)).toMatchObject({ status: 403 })
    expect(await second.call('PUT', `/projects/${owner.projectId}`, { description: 'ours' })).toMatchObject({
      status: 200,
    })
    expect(await editor.call('PUT', `/projects/${owner.projectId}`, { description: 'mine' })).toMatchObject({
      status: 403,
    })
  })

  it('always include an owner, however many requests remove the last two at once', async () => {
    const owner = await insertUser(service)
    const second = await joinProject(service, owner.projectId, 'owner')
    const path = membersPath(owner.projectId)
    const results = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        index % 2 === 0
          ? owner.call('DELETE', `${path}/${second.memberId}`)
          : second.call('DELETE', `${path}/${owner.userId}`),
      ),
    )
    expect(results.filter(({ status }) => status === 200)).toHaveLength(1)
    const remaining = [owner, second].filter(({ userId }) => userId !== undefined)
    const lists = await Promise.all(remaining.map((one) => one.call('GET', path)))
    const [{ members }] = lists.filter(({ status }) => status === 200).map(({ body }) => body)
    expect(members.filter(({ role, status }: any) => role === 'owner' && status === 'active')).toHaveLength(1)
    const last = await (lists[0]?.status === 200 ? owner : second).call('DELETE', `${path}/${members[0].member_id}`)
    expect(last).toMatchObject({ status: 409, body: { detail: expect.stringContaining('last owner') } })
  })

  it('see what their role shows of configurations, and change nothing of other projects of the same account', async () => {
    const owner = await insertUser(service)
    const { project_id: elsewhere } = await owner.post('/projects/', { name: 'Elsewhere' })
    const other = apiClient(service.url, await tokenOf(service, owner.userId, elsewhere))
    const config = { 'type==agent/system_message': 'Only for the team.' }
    const here = await owner.post('/assistants/', { name: 'Here', config })
    const there = await other.post('/assistants/', { name: 'There', config })
    const viewer = await joinProject(service, owner.projectId, 'viewer')
    const editor = await joinProject(service, owner.projectId, 'editor')
    expect(await viewer.get('/assistants/')).toMatchObject([{ name: 'Here', config: {} }])
    expect(await editor.get('/assistants/')).toMatchObject([{ name: 'Here', config }])
    expect(await editor.call('PUT', `/assistants/${here.assistant_id}`, { name: 'Ours', config })).toMatchObject({
      status: 200,
    })
    expect(await viewer.call('PUT', `/assistants/${here.assistant_id}`, { name: 'Ours' })).toMatchObject({
      status: 403,
    })
    for (const [method, body] of [['GET'], ['PUT', { name: 'Mine' }], ['DELETE']] as const)
      expect(await editor.call(method, `/assistants/${there.assistant_id}`, body)).toMatchObject({ status: 403 })
    const made = await editor.post('/assistants/', { name: 'Made' })
    expect((await owner.get(`/assistants/${made.assistant_id}`)).name).toBe('Made')
    expect(await editor.call('DELETE', `/assistants/${made.assistant_id}`)).toMatchObject({ status: 200 })
  })
})

describe('with a token of a shared project', () => {
  const secret = { 'type==agent/system_message': 'Only for the team.' }

  it('an editor sees of the other public assistants of the account what everybody sees', async () => {
    const owner = await insertUser(service)
    const { project_id: elsewhere } = await owner.post('/projects/', { name: 'Elsewhere' })
    const other = apiClient(service.url, await tokenOf(service, owner.userId, elsewhere))
    const there = await other.post('/assistants/', { name: 'There', config: secret, public: true })
    const here = await owner.post('/assistants/', { name: 'Here', config: secret, public: true })
    const editor = await joinProject(service, owner.projectId, 'editor')
    expect((await editor.get(`/assistants/${there.assistant_id}`)).config).toEqual({})
    expect((await editor.get(`/assistants/${here.assistant_id}`)).config).toEqual(secret)
    expect((await owner.get(`/assistants/${there.assistant_id}`)).config).toEqual(secret)
  })

  it('nobody puts assistants of his own account into it', async () => {
    const owner = await insertUser(service)
    const member = await joinProject(service, owner.projectId, 'owner')
    const own = apiClient(service.url, await tokenOf(service, member.userId, member.projectId))
    const { assistant_id: id } = await own.post('/assistants/', { name: 'Mine' })
    expect(await own.call('PUT', `/assistants/${id}/project`, { project_id: owner.projectId })).toMatchObject({
      status: 403,
    })
    expect(await owner.get('/assistants/')).toEqual([])
  })

  it('an editor who tries a tool does not act for its owner', async () => {
    const owner = await insertUser(service)
    await owner.post('/memory/', { text: 'The owner likes sailing.' })
    const editor = await joinProject(service, owner.projectId, 'editor')
    const config = { 'type==agent/tools': [{ type: 'memory' }, { type: 'schedule' }] }
    const { assistant_id: id } = await editor.post('/assistants/', { name: 'A', config })
    const { tools } = await owner.get(`/runs/debug/assistant/${id}`)
    expect(tools.length).toBeGreaterThan(1)
    for (const { name } of tools) {
      const tried = await editor.call('POST', `/assistants/${id}/tools/try`, { name, args: { query: 'sailing' } })
      expect(tried).toMatchObject({ status: 404, body: { detail: expect.stringContaining('no usable tool') } })
    }
  })

  it.each(['viewer', 'member', 'editor', 'owner'] as const)(
    'the role %s sees on /v1 what the native API shows',
    async (role) => {
      const owner = await insertUser(service)
      const config = { ...secret, 'type==agent/description': 'Open', 'type==agent/tools': [{ type: 'retrieval' }] }
      const { assistant_id: id } = await owner.post('/assistants/', { name: 'A', config })
      const user = await joinProject(service, owner.projectId, role)
      const maySee = ['editor', 'owner'].includes(role)
      const seen = { id, name: 'A', description: 'Open', instructions: maySee ? 'Only for the team.' : null }
      const shown = { ...seen, tools: maySee ? [{ type: 'file_search' }] : [] }
      expect(await user.get(`/v1/assistants/${id}`)).toMatchObject(shown)
      expect((await user.get('/v1/assistants')).data).toMatchObject([shown])
      if (role === 'viewer') return
      service.model.reply({ text: 'Hello.' })
      const thread = { messages: [{ role: 'user', content: 'Hi' }] }
      const run = await user.post('/v1/threads/runs', { assistant_id: id, thread })
      expect(run).toMatchObject({ instructions: shown.instructions ?? '', tools: shown.tools })
      const path = `/v1/threads/${run.thread_id}/runs/${run.id}`
      const ended = await eventually('the end', async () => {
        const now = await user.get(path)
        return now.status === 'completed' ? now : undefined
      })
      expect(ended).toMatchObject({ instructions: shown.instructions ?? '', tools: shown.tools })
    },
  )

  it('what code writes in the chat of a member becomes no file of the project', async () => {
    const owner = await insertUser(service)
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'A' })
    const editor = await joinProject(service, owner.projectId, 'editor')
    const thread = { messages: [{ role: 'user', content: 'Draw' }] }
    const kept = await Promise.all(
      [owner, editor].map(async (user) => {
        service.model.reply({ text: 'Done.' })
        const asked = { assistant_id: id, thread, tools: [{ type: 'code_interpreter' }] }
        const run = await user.post('/v1/threads/runs', asked)
        const stored = await service.collections.runs.findOne({ _id: run.id }).lean()
        return JSON.parse(stored?.overrides.code_json ?? '{}').keepsFiles
      }),
    )
    expect(kept).toEqual([true, undefined])
  })

  it('a member changes no vector store of the project by what he says on /v1', async () => {
    const owner = await insertUser(service)
    const form = new FormData()
    form.set('purpose', 'assistants')
    form.set('file', new Blob(['Ships and harbours.']), 'ships.txt')
    const uploaded = await fetch(`${service.url}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.token}` },
      body: form,
    })
    const { id: fileId }: any = await uploaded.json()
    const store = await owner.post('/v1/vector_stores', { name: 'Of the team' })
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'A' })
    const member = await joinProject(service, owner.projectId, 'member')
    const thread = await member.post('/v1/threads', {
      tool_resources: { file_search: { vector_store_ids: [store.id] } },
    })
    const message = {
      role: 'user',
      content: 'Hi',
      attachments: [{ file_id: fileId, tools: [{ type: 'file_search' }] }],
    }
    const made = { tool_resources: { file_search: { vector_stores: [{ file_ids: [fileId] }] } } }
    for (const [path, body] of [
      [`/v1/threads/${thread.id}/messages`, message],
      [`/v1/threads/${thread.id}/runs`, { assistant_id: id, additional_messages: [message] }],
      ['/v1/threads', { messages: [message] }],
      ['/v1/threads', made],
      ['/v1/threads/runs', { assistant_id: id, thread: { ...made, messages: [{ role: 'user', content: 'Hi' }] } }],
    ] as const)
      expect([path, await member.call('POST', path, body)]).toMatchObject([path, { status: 403 }])
    expect((await owner.get(`/v1/vector_stores/${store.id}/files`)).data).toEqual([])
    expect((await owner.get('/v1/vector_stores')).data).toHaveLength(1)
    const editor = await joinProject(service, owner.projectId, 'editor')
    expect(await editor.call('POST', '/v1/threads', made)).toMatchObject({ status: 200 })
  })
})

describe('a member', () => {
  it('chats with the assistants of the project in threads that nobody else sees', async () => {
    const owner = await insertUser(service)
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'A' })
    const member = await joinProject(service, owner.projectId, 'member')
    const viewer = await joinProject(service, owner.projectId, 'viewer')
    const thread = await member.post('/threads/', { name: 'Mine', assistant_id: id })
    service.model.reply({ text: 'Hello.' })
    const run = await member.post('/runs/', { thread_id: thread.thread_id, input: [{ type: 'human', content: 'Hi' }] })
    await member.call('GET', `/runs/${run.run_id}/stream`)
    expect((await member.get(`/runs/${run.run_id}`)).status).toBe('success')
    expect(await owner.call('GET', `/threads/${thread.thread_id}`)).toMatchObject({ status: 404 })
    expect((await owner.get('/threads/')).threads).toEqual([])
    expect((await member.get('/threads/')).threads).toHaveLength(1)
    const counters = await Promise.all([owner, member].map((one) => one.get('/auth/thread-info')))
    expect(counters.map(({ thread_counter: count }: any) => count)).toEqual([0, 1])
    expect(await viewer.call('POST', '/threads/', { name: 'Mine' })).toMatchObject({ status: 403 })
    const own = apiClient(service.url, await tokenOf(service, member.userId, member.projectId))
    const body = { thread_id: thread.thread_id, assistant_id: id, input: [{ type: 'human', content: 'Hi' }] }
    expect(await own.call('POST', '/runs/', body)).toMatchObject({ status: 403 })
  })

  it('who deletes his account leaves nothing of his in the project', async () => {
    const owner = await insertUser(service)
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'A' })
    const member = await joinProject(service, owner.projectId, 'editor')
    const { thread_id: threadId } = await member.post('/threads/', { assistant_id: id })
    const made = await member.post('/assistants/', { name: 'Made' })
    await member.delete('/auth/delete-user', { email_confirmation: member.email })
    const left = await service.collections.projects.findById(owner.projectId).lean()
    expect(JSON.stringify(left)).not.toContain(member.userId)
    expect(await service.collections.threads.findById(threadId).lean()).toBeNull()
    expect((await owner.get(`/assistants/${made.assistant_id}`)).name).toBe('Made')
  })

  it.each(['project', 'account that holds it'] as const)(
    'keeps no chats of a shared project after the deletion of the %s, and no count of them',
    async (what) => {
      const owner = await insertUser(service)
      const { assistant_id: id } = await owner.post('/assistants/', { name: 'A' })
      const member = await joinProject(service, owner.projectId, 'editor')
      const { thread_id: threadId } = await member.post('/threads/', { assistant_id: id })
      const input = [{ type: 'human', content: 'Hi' }]
      await member.post('/schedules/', { assistant_id: id, input, cron: '0 7 1 1 *' })
      const own = apiClient(service.url, await tokenOf(service, member.userId, member.projectId))
      expect((await own.get('/auth/thread-info')).thread_counter).toBe(1)
      await (what === 'project'
        ? owner.delete(`/projects/${owner.projectId}?confirm=true`)
        : owner.delete('/auth/delete-user', { email_confirmation: owner.email, shared_projects: 'delete' }))
      expect(await own.call('GET', `/threads/${threadId}`)).toMatchObject({ status: 404 })
      expect((await own.get('/auth/thread-info')).thread_counter).toBe(0)
      expect(await service.collections.schedules.countDocuments({ user_id: member.userId })).toBe(0)
      expect((await own.get('/projects/')).map(({ name }: any) => name)).toEqual(['main'])
    },
  )

  it('who is removed in mid-run keeps what was answered, and starts nothing more', async () => {
    const owner = await insertUser(service)
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'A' })
    const member = await joinProject(service, owner.projectId, 'editor')
    const schedule = await member.post('/schedules/', {
      assistant_id: id,
      input: [{ type: 'human', content: 'Hi' }],
      cron: '0 7 1 1 *',
    })
    const thread = await member.post('/threads/', { assistant_id: id })
    const gate = Promise.withResolvers<void>()
    const { arrived } = service.model.reply({ text: ['A long ', gate.promise, 'answer.'] })
    const run = await member.post('/runs/', { thread_id: thread.thread_id, input: [{ type: 'human', content: 'Hi' }] })
    await arrived
    await owner.delete(`${membersPath(owner.projectId)}/${member.memberId}`)
    gate.resolve()
    expect(await member.call('GET', `/runs/${run.run_id}`)).toMatchObject({ status: 403 })
    const own = apiClient(service.url, await tokenOf(service, member.userId, member.projectId))
    expect(await own.get(`/runs/${run.run_id}`)).toMatchObject({ status: 'cancelled' })
    const values = await eventually('the answer so far', async () => {
      const state = await own.get(`/threads/${thread.thread_id}/state`)
      return state.values.messages.length < 2 ? undefined : state.values
    })
    expect(values.messages.map(({ data }: any) => data)).toEqual([
      expect.objectContaining({ content: 'Hi' }),
      expect.objectContaining({ content: 'A long ', incomplete: true }),
    ])
    expect(await own.call('GET', `/schedules/${schedule.schedule_id}`)).toMatchObject({ status: 404 })
    expect(await owner.get(`/schedules/${schedule.schedule_id}`)).toMatchObject({ paused: true, awaits_takeover: true })
    expect((await service.collections.projects.findById(owner.projectId).lean())?.leaving).toBeUndefined()
  })
})
