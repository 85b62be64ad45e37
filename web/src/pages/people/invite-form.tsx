import { useState } from 'react'
import { api, keys, queryClient, unwrap } from '../../lib/api.ts'
import type { Role } from '../../lib/membership.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { peopleMessages as t } from '../../texts/people.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { RoleOptions, roleOf } from './role-options.tsx'

/** Invites somebody by mail. */
export function InviteForm({ projectId }: { projectId: string }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const form = useSubmit(async () => {
    const address = email.trim()
    const path = { params: { path: { project_id: projectId } } }
    await unwrap(api.POST('/projects/{project_id}/members', { ...path, body: { email: address, role } }))
    setEmail('')
    say(t.sent(address))
    await queryClient.invalidateQueries({ queryKey: keys.members(projectId) })
  })
  return (
    <form className="card form" onSubmit={form.onSubmit}>
      <div>
        <h2>{t.invite}</h2>
        <p className="muted small">{t.inviteText}</p>
      </div>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      <div className="form-row">
        <TextField
          label={texts.account.email}
          type="email"
          autoComplete="off"
          required
          maxLength={254}
          error={form.fields['email']}
          value={email}
          onValue={setEmail}
        />
        <SelectField label={t.role} help={t.can[role]} value={role} onValue={(value) => setRole(roleOf(value))}>
          <RoleOptions />
        </SelectField>
      </div>
      <div>
        <Button type="submit" look="primary" busy={form.isBusy}>
          {t.send}
        </Button>
      </div>
    </form>
  )
}
