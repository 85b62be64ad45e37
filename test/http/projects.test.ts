import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { useNewUser, useTarget } from './target.ts'

describe('projects over HTTP', () => {
  const target = useTarget()
  const user = useNewUser(target)

  it('lists, creates and updates', async () => {
    const { call } = user()
    const created = await call('POST', '/projects/', { name: 'Papers', description: 'to read', unknown: 1 })
    expect(created.status).toBe(200)
    expect(created.body).toEqual({
      project_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Papers',
      description: 'to read',
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updated_at: expect.any(String),
      role: 'owner',
      owner: { user_id: expect.any(String), email: expect.stringContaining('@') },
    })
    const list = await call('GET', '/projects/')
    expect(list.body.map((project: { name: string }) => project.name)).toEqual(['main', 'Papers'])
    const updated = await call('PUT', `/projects/${created.body.project_id}`, { description: '' })
    expect(updated.body).toMatchObject({ name: 'Papers', description: '' })
    expect((await call('PUT', `/projects/${created.body.project_id}`, { name: 'main' })).status).toBe(400)
  })

  it('returns 400 for invalid names and 422 for malformed bodies', async () => {
    const { call } = user()
    expect((await call('POST', '/projects/', { name: '' })).status).toBe(400)
    expect((await call('POST', '/projects/', { name: 'x'.repeat(101) })).status).toBe(400)
    expect((await call('POST', '/projects/', { name: '😀'.repeat(100) })).status).toBe(200)
    expect((await call('POST', '/projects/', { name: 'main' })).status).toBe(400)
    const wrong = await call('POST', '/projects/', { name: 5 })
    expect(wrong.status).toBe(422)
    expect(wrong.body.detail[0]).toMatchObject({ loc: ['body', 'name'], type: 'type' })
    expect((await call('POST', '/projects/')).status).toBe(422)
    expect((await call('POST', '/projects/', '{"name":')).status).toBe(400)
  })

  it('creates one project for twenty simultaneous requests with the same name', async () => {
    const { call } = user()
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('POST', '/projects/', { name: 'same' })))
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 400)).toHaveLength(19)
  })

  it('pins a token to a project, whose contents lists show', async () => {
    const { call } = user()
    const { body: project } = await call('POST', '/projects/', { name: 'other' })
    const pinned = await call('GET', `/projects/${project.project_id}`)
    expect(Object.keys(pinned.body)).toEqual(['jwt_token'])
    const other = apiClient(target.url, pinned.body.jwt_token)
    await other.call('POST', '/threads/', { name: 'elsewhere' })
    expect((await other.call('GET', '/assistants/')).body).toEqual([])
    const { body: ofMain } = await call('GET', '/threads/')
    expect(ofMain.threads.map((thread: { name: string }) => thread.name)).not.toContain('elsewhere')
    expect((await other.call('GET', '/threads/')).body).toMatchObject({
      total: 1,
      threads: [{ project_id: project.project_id }],
    })
  })
})
