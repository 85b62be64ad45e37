import { useState } from 'react'
import type { AdminApi } from '../lib/admin-api.ts'
import { unwrap } from '../lib/api.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { auditMessages } from '../texts/audit.ts'
import { AuditLog } from '../ui/audit-log.tsx'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'

const t = auditMessages

/** The audit log of all accounts, or of one. */
export function Audit({ api }: { api: AdminApi }) {
  const [typed, setTyped] = useState('')
  const [userId, setUserId] = useState('')
  const form = useSubmit(async () => setUserId(await idOf(api, typed.trim())))
  return (
    <>
      <header>
        <h1>{t.title}</h1>
        <p className="muted">{t.adminText}</p>
      </header>
      <section className="card stack-small">
        <form className="search-form" onSubmit={form.onSubmit}>
          <TextField label={t.userId} placeholder={t.userIdHelp} maxLength={254} value={typed} onValue={setTyped} />
          <Button type="submit" busy={form.isBusy}>
            {t.show}
          </Button>
        </form>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <AuditLog
          key={userId}
          name={['admin', 'audit', userId]}
          words={{ ...t.actions, ...t.adminActions }}
          read={(query) =>
            unwrap(api.GET('/admin/audit', { params: { query: { ...query, ...(userId && { user_id: userId }) } } }))
          }
        />
      </section>
    </>
  )
}

/** The id of the user who has this address; what is no address is an id. */
async function idOf(api: AdminApi, typed: string): Promise<string> {
  if (!typed.includes('@')) return typed
  const { users } = await unwrap(api.GET('/admin/users/list', { params: { query: { search: typed, limit: 50 } } }))
  const found = users.find(({ email }) => email?.toLowerCase() === typed.toLowerCase())
  if (found === undefined) throw new Error(t.noUser)
  return found.user_id
}
