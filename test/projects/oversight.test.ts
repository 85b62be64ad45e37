import { describe, expect, it } from 'vitest'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'
import { joinProject } from './joined.ts'

const service = useSharedService()

const said = (content: string) => [{ type: 'human', content }]

async function ask(by: any, assistantId: string) {
  const { thread_id: threadId } = await by.post('/threads/', { assistant_id: assistantId })
  service.model.reply({ text: 'A secret answer.' })
  const answer = await by.call('POST', '/runs/', { thread_id: threadId, input: said('A secret question') })
  if (answer.status === 200) await by.call('GET', `/runs/${answer.body.run_id}/stream`)
  return answer
}

async function joinAgain(projectId: string, { userId, memberId, email }: Awaited<ReturnType<typeof joinProject>>) {
  const member = { id: memberId, user_id: userId, role: 'member' as const, email, created_at: new Date() }
  await service.collections.projects.updateOne({ _id: projectId }, { $push: { members: member } })
}

describe('an owner', () => {
  it('limits what each member may spend in a day', async () => {
    const owner = await insertUser(service)
    const { projectId } = owner
    const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'A' })
    const [one, two] = [
      await joinProject(service, projectId, 'member'),
      await joinProject(service, projectId, 'member'),
    ]
    await ask(one, assistantId)
    const budget = (memberId: string) => `/projects/${projectId}/members/${memberId}/budget`
    expect(await owner.get(budget(one.memberId))).toMatchObject({ limits: { runs: null }, used: { runs: 1 } })
    expect(await owner.call('PUT', budget(one.memberId), { runs: 2 })).toMatchObject({
      status: 200,
      body: { limits: { runs: 2 }, used: { runs: 1 } },
    })
    expect(await ask(one, assistantId)).toMatchObject({ status: 200 })
    expect(await ask(one, assistantId)).toMatchObject({
      status: 429,
      body: { detail: expect.stringContaining('that you have in this project') },
    })
    expect(await ask(two, assistantId)).toMatchObject({ status: 200 })
    expect(await ask(owner, assistantId)).toMatchObject({ status: 200 })
    // Also of an assistant that was made later.
    const { assistant_id: later } = await owner.post('/assistants/', { name: 'B' })
    expect(await ask(one, later)).toMatchObject({ status: 429 })
    expect(await owner.call('PUT', budget(owner.userId), { runs: 1 })).toMatchObject({ status: 200 })
    expect(await ask(owner, later)).toMatchObject({ status: 429 })
    expect(await owner.call('GET', budget('nobody'))).toMatchObject({ status: 404 })
    expect(await one.call('PUT', budget(one.memberId), { runs: 1000 })).toMatchObject({ status: 403 })
    await owner.delete(`/projects/${projectId}/members/${one.memberId}`)
    expect(await service.collections.budgets.countDocuments({ _id: `member/${projectId}/${one.userId}` })).toBe(0)
    await owner.delete(`/projects/${projectId}?confirm=true`)
    expect(await service.collections.budgets.countDocuments({ user_id: owner.userId })).toBe(0)
  })

  it('sees what each member has spent, and nothing of what was said', async () => {
    const owner = await insertUser(service)
    const { projectId } = owner
    const { assistant_id: assistantId } = await owner.post('/assistants/', { name: 'A' })
    const member = await joinProject(service, projectId, 'member')
    await ask(member, assistantId)
    await ask(member, assistantId)
    await ask(owner, assistantId)
    const usage = await owner.get(`/projects/${projectId}/usage?days=7`)
    expect(usage).toMatchObject({ days: 7, public: { runs: 0 } })
    const of = (userId: string) => usage.members.find(({ user_id: id }: any) => id === userId)
    expect(of(member.userId)).toMatchObject({ member_id: member.memberId, name: member.email, runs: 2 })
    expect(of(member.userId).total_tokens).toBeGreaterThan(0)
    expect(of(owner.userId)).toMatchObject({ runs: 1 })
    expect(JSON.stringify(usage)).not.toContain('secret')
    expect(await member.call('GET', `/projects/${projectId}/usage`)).toMatchObject({ status: 403 })
    // Who has left still counts, without a name, until his account is deleted.
    await owner.delete(`/projects/${projectId}/members/${member.memberId}`)
    const later = (await owner.get(`/projects/${projectId}/usage`)).members
    const left = { ...of(member.userId), member_id: member.userId, name: '', former: true }
    expect(later.filter(({ former }: any) => former)).toEqual([left])
    expect(later).toHaveLength(usage.members.length)
    expect(JSON.stringify(later)).not.toContain(member.email)
    await joinAgain(projectId, member)
    expect((await owner.get(`/projects/${projectId}/usage`)).members).toContainEqual(of(member.userId))
    await owner.delete(`/projects/${projectId}/members/${member.memberId}`)
    await member.delete('/auth/delete-user', { email_confirmation: member.email })
    expect(JSON.stringify((await owner.get(`/projects/${projectId}/usage`)).members)).not.toContain(member.userId)
    expect(JSON.stringify(await service.collections.projects.findById(projectId).lean())).not.toContain(member.userId)
    expect(await owner.call('GET', `/projects/${projectId}/usage?days=0`)).toMatchObject({ status: 422 })
  })

  it('sees who has changed what', async () => {
    const owner = await insertUser(service)
    const { projectId } = owner
    const editor = await joinProject(service, projectId, 'editor')
    const made = await editor.post('/assistants/', { name: 'Made by the editor' })
    expect(made.created_by).toEqual({ user_id: editor.userId, name: editor.email })
    expect((await owner.get('/assistants/'))[0]).toMatchObject({ created_by: { user_id: editor.userId } })
    await editor.call('PUT', `/assistants/${made.assistant_id}`, { name: 'Changed' })
    const { thread_id: threadId } = await editor.post('/threads/', { name: 'Of nobody else' })
    await editor.delete(`/threads/${threadId}`)
    await owner.call('PATCH', `/projects/${projectId}/members/${editor.memberId}`, { role: 'owner' })
    const { entries, names } = await owner.get(`/projects/${projectId}/audit`)
    expect(entries.map(({ action, by }: any) => [action, by?.user_id])).toEqual([
      ['projects.members.update', owner.userId],
      ['threads.delete', editor.userId],
      ['assistants.put', editor.userId],
      ['assistants.create', editor.userId],
    ])
    expect(Object.values(names)).toEqual(['Changed'])
    expect(JSON.stringify(entries)).not.toMatch(/client|agent|Of nobody/)
    const page = await owner.get(`/projects/${projectId}/audit?limit=1&before=${entries[0].entry_id}`)
    expect(page).toMatchObject({ has_more: true, entries: [{ action: 'threads.delete' }] })
    const viewer = await joinProject(service, projectId, 'viewer')
    expect(await viewer.call('GET', `/projects/${projectId}/audit`)).toMatchObject({ status: 403 })
    expect((await editor.get('/user/audit')).entries.length).toBeGreaterThan(2)
  })
})
