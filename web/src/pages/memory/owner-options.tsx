import { useAssistants, useProjects } from '../../lib/api.ts'
import { useMembership } from '../../lib/membership.ts'
import { useSession } from '../../lib/session.ts'
import { memoryMessages as t } from '../../texts/memory.ts'

/** Whom a fact is for, as the value of a choice: `` (all assistants), `assistant/{id}` or `project/{id}`. */
export type Owner = string

export const ownerOf = (fact: { assistant_id: string | null; project_id: string | null }): Owner => {
  if (fact.assistant_id !== null) return `assistant/${fact.assistant_id}`
  return fact.project_id === null ? '' : `project/${fact.project_id}`
}

/** The members of a request that name the owner. */
export function membersOf(owner: Owner): { assistant_id?: string; project_id?: string } {
  const [kind, ...id] = owner.split('/')
  if (kind === 'assistant') return { assistant_id: id.join('/') }
  return kind === 'project' ? { project_id: id.join('/') } : {}
}

/** The projects and assistants of the user's own, by `Owner`: in a project of others nothing is remembered. */
export function useOwners(): { value: Owner; label: string }[] {
  const [projects, assistants] = [useProjects(), useAssistants()]
  const { isHolder } = useMembership()
  const userId = useSession()?.userId
  const own = (projects.data ?? []).filter(({ owner }) => owner.user_id === userId)
  return [
    ...own.map(({ project_id: id, name }) => ({ value: `project/${id}`, label: t.ofProject(name) })),
    ...(isHolder ? (assistants.data ?? []) : []).map(({ assistant_id: id, name }) => ({
      value: `assistant/${id}`,
      label: t.ofAssistant(name),
    })),
  ]
}

export function OwnerOptions({ owners }: { owners: { value: Owner; label: string }[] }) {
  return owners.map(({ value, label }) => (
    <option key={value} value={value}>
      {label}
    </option>
  ))
}
