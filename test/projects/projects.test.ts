import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { type TestService, startService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

describe('projects', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService({ worker: false })
  })
  afterAll(() => service.close())

  it('lists, creates and updates', async () => {
    const { call, projectId } = await insertUser(service)
    const created = await call('POST', '/projects/', { name: 'Papers', description: 'to read', unknown: 1 })
    expect(created.status).toBe(200)
    expect(created.body).toEqual({
      project_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Papers',
      description: 'to read',
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updated_at: expect.any(String),
    })
    const list = await call('GET', '/projects/')
    expect(list.body.map((project: { project_id: string }) => project.project_id)).toEqual([
      projectId,
      created.body.project_id,
    ])
    const updated = await call('PUT', `/projects/${created.body.project_id}`, { description: '' })
    expect(updated.body).toMatchObject({ name: 'Papers', description: '' })
    expect((await call('PUT', `/projects/${created.body.project_id}`, { name: 'main' })).status).toBe(400)
  })

  it('refuses names that break the rule with 400 and bodies of another shape with 422', async () => {
    const { call } = await insertUser(service)
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

  it('makes one project of twenty requests with the same name', async () => {
    const { call } = await insertUser(service)
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('POST', '/projects/', { name: 'same' })))
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 400)).toHaveLength(19)
  })

  it('pins a token to a project, and lists follow it', async () => {
    const user = await insertUser(service)
    await user.call('POST', '/assistants/', { name: 'in main' })
    const { body: project } = await user.call('POST', '/projects/', { name: 'other' })
    const pinned = await user.call('GET', `/projects/${project.project_id}`)
    expect(Object.keys(pinned.body)).toEqual(['jwt_token'])
    const other = apiClient(service.url, pinned.body.jwt_token)
    await other.call('POST', '/threads/', { name: 'elsewhere' })
    expect((await other.call('GET', '/assistants/')).body).toEqual([])
    expect((await user.call('GET', '/threads/')).body).toMatchObject({ threads: [], total: 0 })
    expect((await other.call('GET', '/threads/')).body).toMatchObject({
      total: 1,
      threads: [{ project_id: project.project_id }],
    })
  })

  it("refuses what is scoped by a project that is gone or not the caller's", async () => {
    const [mine, theirs] = [await insertUser(service), await insertUser(service)]
    const sign = (projectId: string) =>
      service.api.services.tokens.sign({ user_id: mine.userId, project_id: projectId })
    for (const projectId of [newId(), theirs.projectId]) {
      const { call } = apiClient(service.url, await sign(projectId))
      expect((await call('GET', '/assistants/')).status).toBe(403)
      expect((await call('POST', '/threads/', {})).status).toBe(403)
      expect((await call('GET', '/projects/')).status).toBe(200)
    }
    expect((await mine.call('GET', `/projects/${theirs.projectId}`)).status).toBe(403)
    expect((await mine.call('PUT', `/projects/${theirs.projectId}`, { name: 'x' })).status).toBe(403)
    expect((await mine.call('GET', `/projects/${newId()}`)).status).toBe(404)
    expect((await apiClient(service.url).call('GET', '/projects/')).status).toBe(401)
  })
})
