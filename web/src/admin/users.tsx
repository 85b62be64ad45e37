import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import type { AdminApi } from '../lib/admin-api.ts'
import { unwrap } from '../lib/api.ts'
import { formatNumber } from '../lib/format.ts'
import { operationMessages } from '../texts/operation.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Loading } from '../ui/states.tsx'
import { UserPanel } from './user-panel.tsx'
import { UserTable } from './user-table.tsx'

const t = operationMessages.admin
const pageSize = 50

/** All users, searchable, with a panel for one of them. */
export function Users({ api }: { api: AdminApi }) {
  const [search, setSearch] = useState('')
  const [offset, setOffset] = useState(0)
  const [open, setOpen] = useState<string>()
  const asked = useDeferredValue(search.trim())
  const users = useQuery({
    queryKey: ['admin', 'users', asked, offset],
    placeholderData: keepPreviousData,
    queryFn: () =>
      unwrap(
        api.GET('/admin/users/list', {
          params: { query: { limit: pageSize, offset, ...(asked && { search: asked }) } },
        }),
      ),
  })
  const found = users.data
  return (
    <>
      <header>
        <h1>{t.pages.users}</h1>
        <p className="muted">{t.usersText}</p>
      </header>
      <div className="op-split" data-open={open !== undefined}>
        <section className="card stack-small">
          <TextField
            label={t.searchUsers}
            type="search"
            placeholder={t.searchPlaceholder}
            value={search}
            onValue={(value) => {
              setSearch(value)
              setOffset(0)
            }}
          />
          <Loading query={users} lines={6} />
          {found && (
            <>
              <p className="muted small" aria-live="polite">
                {t.found(found.total)}
              </p>
              <UserTable label={t.pages.users} users={found.users} current={open} onOpen={setOpen} />
              {found.total > pageSize && (
                <div className="spread">
                  <Button
                    size="small"
                    disabled={offset === 0}
                    onClick={() => setOffset(Math.max(0, offset - pageSize))}
                  >
                    {t.newer}
                  </Button>
                  <span className="muted small">
                    {t.range(formatNumber(offset + 1), formatNumber(offset + found.users.length))}
                  </span>
                  <Button
                    size="small"
                    disabled={offset + pageSize >= found.total}
                    onClick={() => setOffset(offset + pageSize)}
                  >
                    {t.older}
                  </Button>
                </div>
              )}
            </>
          )}
        </section>
        {open !== undefined && <UserPanel key={open} api={api} userId={open} onClose={() => setOpen(undefined)} />}
      </div>
    </>
  )
}
