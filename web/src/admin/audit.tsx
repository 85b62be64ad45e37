import { useState } from 'react'
import { unwrap } from '../lib/api.ts'
import { auditTexts } from '../texts/audit.ts'
import { AuditLog } from '../ui/audit-log.tsx'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import type { AdminApi } from './api.ts'

const t = auditTexts

/** The audit log of all accounts, or of one. */
export function Audit({ api }: { api: AdminApi }) {
  const [typed, setTyped] = useState('')
  const [userId, setUserId] = useState('')
  return (
    <>
      <header>
        <h1>{t.title}</h1>
        <p className="muted">{t.adminText}</p>
      </header>
      <section className="card stack-small">
        <form
          className="search-form"
          onSubmit={(event) => {
            event.preventDefault()
            setUserId(typed.trim())
          }}
        >
          <TextField label={t.userId} placeholder={t.userIdHelp} maxLength={128} value={typed} onValue={setTyped} />
          <Button type="submit">{t.show}</Button>
        </form>
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
