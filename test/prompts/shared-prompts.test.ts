import { expect, it } from 'vitest'
import { promptLimits } from '../../domain/records/prompt.ts'
import { joinProject, tokenOf } from '../projects/joined.ts'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const service = useSharedService()

async function team() {
  const owner = await insertUser(service)
  const member = await joinProject(service, owner.projectId, 'member')
  const other = await joinProject(service, owner.projectId, 'member')
  const editor = await joinProject(service, owner.projectId, 'editor')
  const viewer = await joinProject(service, owner.projectId, 'viewer')
  return { owner, member, other, editor, viewer }
}

it('prompts are shared with a project by their maker, read by all, and changed by him and by editors', async () => {
  const { owner, member, other, editor, viewer } = await team()
  const stranger = await insertUser(service)
  const { prompt_id: id } = await member.post('/user/prompts', { name: 'Log', text: 'Write the log of {{day}}' })
  expect(await owner.get('/prompts/')).toEqual([])
  expect((await other.call('POST', `/prompts/${id}/share`)).status).toBe(404)
  expect(await member.post(`/prompts/${id}/share`)).toMatchObject({ prompt_id: id, project_id: owner.projectId })
  // Repeated.
  await member.post(`/prompts/${id}/share`)
  for (const reader of [owner, member, other, editor, viewer])
    expect(await reader.get('/prompts/')).toMatchObject([
      { prompt_id: id, name: 'Log', created_by: { user_id: member.userId } },
    ])
  expect(await stranger.get('/prompts/')).toEqual([])

  const words = { name: 'Ship log', text: 'Write it' }
  for (const client of [other, viewer]) {
    expect((await client.call('PUT', `/prompts/${id}`, words)).status).toBe(403)
    expect((await client.call('DELETE', `/prompts/${id}/share`)).status).toBe(403)
  }
  expect((await stranger.call('PUT', `/prompts/${id}`, words)).status).toBe(404)
  expect(await editor.put(`/prompts/${id}`, words)).toMatchObject(words)
  expect(await member.put(`/prompts/${id}`, { ...words, text: 'Write it all' })).toMatchObject({ text: 'Write it all' })
  expect((await viewer.call('POST', `/prompts/${id}/share`)).status).toBe(403)

  // It stays its maker's.
  await editor.delete(`/prompts/${id}/share`)
  expect(await owner.get('/prompts/')).toEqual([])
  expect(await member.get('/user/prompts')).toMatchObject([{ prompt_id: id, project_id: null, text: 'Write it all' }])
})

it("a prompt is only its maker's again when he leaves the project", async () => {
  const { owner, member } = await team()
  const { prompt_id: id } = await member.post('/user/prompts', { name: 'Log', text: 'Write the log' })
  await member.post(`/prompts/${id}/share`)
  const { members } = await owner.get(`/projects/${owner.projectId}/members`)
  const { member_id: memberId } = members.find(({ user_id: userId }: any) => userId === member.userId)
  await owner.delete(`/projects/${owner.projectId}/members/${memberId}`)
  expect(await owner.get('/prompts/')).toEqual([])
  const own = apiClient(service.url, await tokenOf(service, member.userId, member.projectId))
  expect(await own.get('/user/prompts')).toMatchObject([{ prompt_id: id, project_id: null }])
})

it('a project has no more shared prompts than the limit, and they go with it', async () => {
  const owner = await insertUser(service)
  const { project_id: projectId } = await owner.post('/projects/', { name: 'Fleet' })
  const fleet = apiClient(service.url, await tokenOf(service, owner.userId, projectId))
  const now = new Date()
  const shared = { user_id: 'somebody', project_id: projectId, name: 'n', text: 'x', created_at: now, updated_at: now }
  await service.collections.prompts.insertMany(
    Array.from({ length: promptLimits.inProject }, (_, place) => ({ ...shared, _id: `${projectId}-${place}` })),
  )
  const { prompt_id: id } = await owner.post('/user/prompts', { name: 'One more', text: 'x' })
  expect((await fleet.call('POST', `/prompts/${id}/share`)).status).toBe(403)
  await service.collections.prompts.deleteOne({ _id: `${projectId}-0` })
  await fleet.post(`/prompts/${id}/share`)
  await owner.delete(`/projects/${projectId}?confirm=true`)
  expect(await service.collections.prompts.countDocuments({ project_id: projectId })).toBe(0)
})
