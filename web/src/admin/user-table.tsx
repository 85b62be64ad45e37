import type { Schemas } from '../lib/api.ts'
import { formatAgo, formatNumber } from '../lib/format.ts'
import { operationMessages } from '../texts/operation.ts'
import { ScrollRegion } from '../ui/scroll-region.tsx'
import { providerName } from './provider-name.ts'

const t = operationMessages.admin

interface UserTableProps {
  label: string
  users: (Schemas['AdminUser'] & { suspended_at?: string | null })[]
  current?: string | undefined
  onOpen?: (userId: string) => void
}

export function UserTable({ label, users, current, onOpen }: UserTableProps) {
  if (users.length === 0) return undefined
  return (
    <ScrollRegion label={label}>
      <table className="table user-table">
        <thead>
          <tr>
            <th>{t.user}</th>
            <th>{t.provider}</th>
            <th className="number">{t.threads}</th>
            <th>{t.lastActive}</th>
          </tr>
        </thead>
        <tbody>
          {users.map((user) => {
            const name = user.email ?? t.nameless
            return (
              <tr key={user.user_id} data-current={user.user_id === current}>
                <td>
                  {onOpen ? (
                    <button type="button" className="row-button" onClick={() => onOpen(user.user_id)}>
                      {name}
                    </button>
                  ) : (
                    name
                  )}{' '}
                  {!user.verified && <span className="badge badge-warn">{t.notVerified}</span>}{' '}
                  {user.suspended_at && <span className="badge badge-danger">{t.suspended}</span>}
                </td>
                <td>{providerName(user.provider)}</td>
                <td className="number">{formatNumber(user.thread_counter)}</td>
                <td className="nowrap">{formatAgo(user.last_active_at)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </ScrollRegion>
  )
}
