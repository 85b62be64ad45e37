import { texts } from '../texts/index.ts'
import { type Project, api, forgetAnswers, unwrap } from './api.ts'
import { getSession, switchTo } from './session.ts'
import { say } from './toasts.ts'

/** Gets a token that is pinned to a project; all pages then show that project. With its name, says so. */
export async function openProject(projectId: string, name?: string): Promise<void> {
  if (getSession()?.projectId === projectId) return
  const { jwt_token: token } = await unwrap(
    api.GET('/projects/{project_id}', { params: { path: { project_id: projectId } } }),
  )
  switchTo(token)
  void forgetAnswers()
  if (name !== undefined) say(texts.projects.switched(name))
}

/** Where to go on without a project: to one of the own, without one to any other. */
export function anotherOf(projects: Project[] | undefined, without: string | undefined): Project | undefined {
  const others = (projects ?? []).filter(({ project_id: id }) => id !== without)
  const userId = getSession()?.userId
  return others.find(({ owner }) => owner.user_id === userId) ?? others[0]
}
