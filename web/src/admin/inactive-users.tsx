import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Schemas, unwrap } from '../lib/api.ts'
import { formatAgo, formatNumber } from '../lib/format.ts'
import { texts } from '../texts/index.ts'
import { TextField } from '../ui/field.tsx'
import { Problem, Skeleton } from '../ui/states.tsx'
import { ScrollRegion } from '../ui/scroll-region.tsx'
import type { AdminApi } from './api.ts'

const t = texts.admin
const shown = 50

/** Users without recent activity. */
export function InactiveUsers({ api }: { api: AdminApi }) {
  const [days, setDays] = useState('90')
  const minDaysOld = Math.max(0, Number(days) || 0)
  const users = useQuery({
    queryKey: ['admin', 'inactive', minDaysOld],
    queryFn: () =>
      unwrap(api.GET('/admin/inactive-users', { params: { query: { min_days_old: minDaysOld, limit: shown } } })),
  })
  return (
    <section className="card stack-small">
      <h2>{t.inactive}</h2>
      <div className="narrow">
        <TextField label={t.days} type="number" min={0} value={days} onValue={setDays} />
      </div>
      {users.isPending && <Skeleton />}
      {users.isError && <Problem error={users.error} onRetry={() => void users.refetch()} />}
      {users.data && (
        <>
          <p className="muted small">{t.found(users.data.total)}</p>
          <UserTable label={t.inactive} users={users.data.users} />
        </>
      )}
    </section>
  )
}

export function UserTable({ label, users }: { label: string; users: Schemas['AdminUser'][] }) {
  if (users.length === 0) return undefined
  return (
    <ScrollRegion label={label}>
      <table className="table">
        <thead>
          <tr>
            <th>{t.user}</th>
            <th>{t.provider}</th>
            <th>{t.verified}</th>
            <th className="number">{t.threads}</th>
            <th>{t.lastActive}</th>
          </tr>
        </thead>
        <tbody>
          {users.map((user) => (
            <tr key={user.user_id}>
              <td>{user.email ?? user.user_id}</td>
              <td>{user.provider}</td>
              <td>{user.verified ? t.yes : t.no}</td>
              <td className="number">{formatNumber(user.thread_counter)}</td>
              <td>{formatAgo(user.last_active_at)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}
