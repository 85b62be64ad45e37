import type { ProjectRole } from '../../domain/acting.ts'
import { newId } from '../../domain/ids.ts'
import { apiClient } from '../support/api-client.ts'
import type { RunningService } from '../support/service.ts'
import { insertUser } from '../support/users.ts'

/** A new user who uses the project of somebody else: the API by a token of that project. */
export async function joinProject(service: RunningService, projectId: string, role: ProjectRole) {
  const user = await insertUser(service)
  const memberId = newId()
  const member = { id: memberId, user_id: user.userId, role, email: user.email, created_at: new Date() }
  await service.collections.projects.updateOne({ _id: projectId }, { $push: { members: member } })
  const token = await tokenOf(service, user.userId, projectId)
  return { ...user, ...apiClient(service.url, token), token, memberId }
}

export function tokenOf(service: RunningService, userId: string, projectId: string): Promise<string> {
  return service.api.services.tokens.sign({ user_id: userId, project_id: projectId })
}
