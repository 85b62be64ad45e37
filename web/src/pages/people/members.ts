import { type Member, keys, queryClient } from '../../lib/api.ts'

export const pathOf = (projectId: string, { member_id: memberId }: Member) => ({
  params: { path: { project_id: projectId, member_id: memberId } },
})

/** The own role, which the list of projects shows, may have changed too. */
export const refresh = (projectId: string) =>
  Promise.all([keys.members(projectId), keys.projects].map((queryKey) => queryClient.invalidateQueries({ queryKey })))
