import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Member, api, keys, unwrap } from '../../lib/api.ts'
import { groupName } from '../../lib/group-name.ts'
import { type Role, roleName } from '../../lib/membership.ts'
import { say } from '../../lib/toasts.ts'
import { useSettled } from '../../lib/use-settled.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { peopleMessages } from '../../texts/people.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { refresh } from './members.ts'
import { RoleOptions, roleOf } from './role-options.tsx'

const t = peopleMessages.groups
/** Fewer are looked through at a glance. */
const searchFrom = 20
const inList = 200

const useGroups = (search: string) =>
  useQuery({
    queryKey: [...keys.groups, search],
    placeholderData: keepPreviousData,
    queryFn: () =>
      unwrap(api.GET('/groups', { params: { query: { limit: inList, ...(search !== '' && { search }) } } })),
  })

/** Gives a group a role; nothing where the user knows no group. */
export function GroupForm({ projectId, members }: { projectId: string; members: Member[] }) {
  const [search, setSearch] = useState('')
  const [chosen, setChosen] = useState('')
  const [role, setRole] = useState<Role>('member')
  const asked = useSettled(search.trim())
  const all = useGroups('')
  const found = useGroups(asked)
  const used = new Set(members.map(({ group }) => group?.group_id))
  const offered = (found.data?.groups ?? []).filter(({ group_id: id }) => !used.has(id))
  const group = offered.find(({ group_id: id }) => id === chosen)
  const form = useSubmit(async () => {
    if (group === undefined) return
    const path = { params: { path: { project_id: projectId } } }
    await unwrap(api.POST('/projects/{project_id}/members', { ...path, body: { group: group.group_id, role } }))
    setChosen('')
    say(t.added(groupName(group), roleName(role)))
    await refresh(projectId)
  })
  const known = all.data?.total ?? 0
  if (known === 0) return null
  const hasMore = found.data !== undefined && found.data.total > found.data.groups.length
  return (
    <form className="card form" onSubmit={form.onSubmit}>
      <div>
        <h2>{t.add}</h2>
        <p className="muted small">{t.addText}</p>
      </div>
      {known > searchFrom && (
        <TextField
          label={t.find}
          type="search"
          maxLength={256}
          help={hasMore ? t.more : undefined}
          value={search}
          onValue={setSearch}
        />
      )}
      <div className="form-row">
        <SelectField
          label={t.group}
          required
          help={found.isSuccess && offered.length === 0 ? (asked === '' ? t.allUsed : t.noneFound) : undefined}
          value={group === undefined ? '' : chosen}
          onValue={setChosen}
        >
          <option value="">{t.choose}</option>
          {offered.map((one) => (
            <option key={one.group_id} value={one.group_id}>
              {`${groupName(one)} · ${t.sources[one.source]}`}
            </option>
          ))}
        </SelectField>
        <SelectField
          label={t.role}
          help={peopleMessages.can[role]}
          value={role}
          onValue={(value) => setRole(roleOf(value))}
        >
          <RoleOptions />
        </SelectField>
      </div>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      <div>
        <Button type="submit" look="primary" busy={form.isBusy}>
          {t.action}
        </Button>
      </div>
    </form>
  )
}
