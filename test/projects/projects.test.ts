import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

describe('projects', () => {
  const service = useSharedService()

  it("refuses operations within a project that is deleted or not the caller's", async () => {
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
