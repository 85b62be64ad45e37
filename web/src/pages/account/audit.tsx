import { api, keys, unwrap } from '../../lib/api.ts'
import { useTitle } from '../../lib/use-title.ts'
import { auditMessages } from '../../texts/audit.ts'
import { AuditLog } from '../../ui/audit-log.tsx'

const t = auditMessages
const { 'admin.access': _ofOperators, ...words } = { ...t.actions, ...t.adminActions }

/** What was done with the user's account. */
export function AccountAudit() {
  useTitle(t.title)
  return (
    <div className="page">
      <header>
        <h1>{t.title}</h1>
        <p className="muted">{t.text}</p>
      </header>
      <AuditLog
        isOwn
        name={keys.audit}
        words={words}
        read={(query) => unwrap(api.GET('/user/audit', { params: { query } }))}
      />
    </div>
  )
}
