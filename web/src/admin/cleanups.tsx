import { useState } from 'react'
import type { AdminApi } from '../lib/admin-api.ts'
import { type Schemas, unwrap } from '../lib/api.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { texts } from '../texts/index.ts'
import { operationMessages } from '../texts/operation.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { ReceiptTable } from '../ui/receipt-table.tsx'
import { UserTable } from './user-table.tsx'

const t = operationMessages.admin

/** Clean-ups. Each shows first what it would remove; only then can it be carried out. */
export function Cleanups({ api }: { api: AdminApi }) {
  return (
    <>
      <header>
        <h1>{t.pages.cleanup}</h1>
        <p className="muted">{t.cleanupText}</p>
      </header>
      <UserCleanup
        title={t.cleanInactive}
        text={t.cleanInactiveText}
        fallbackDays="90"
        run={(query) => unwrap(api.POST('/admin/cleanup-inactive-users', { params: { query } }))}
      />
      <UserCleanup
        title={t.cleanUnverified}
        text={t.cleanUnverifiedText}
        fallbackDays="1"
        run={(query) => unwrap(api.POST('/admin/cleanup-unverified-users', { params: { query } }))}
      />
      <OrphanCleanup api={api} />
      <ReceiptSearch api={api} />
    </>
  )
}

interface UserCleanupProps {
  title: string
  text: string
  fallbackDays: string
  run: (query: { min_days_old: number; dry_run: boolean }) => Promise<Schemas['UserCleanupResponse']>
}

function UserCleanup({ title, text, fallbackDays, run }: UserCleanupProps) {
  const [days, setDays] = useState(fallbackDays)
  const [seen, setSeen] = useState<Schemas['UserCleanupResponse']>()
  const [isAsking, setAsking] = useState(false)
  const query = (isDry: boolean) => ({ min_days_old: Math.max(0, Number(days) || 0), dry_run: isDry })
  const look = useSubmit(async () => setSeen(await run(query(true))))
  return (
    <section className="card stack-small">
      <h2>{title}</h2>
      <p className="muted small">{text}</p>
      <form className="row cleanup-form" onSubmit={look.onSubmit}>
        <TextField
          label={t.days}
          type="number"
          min={0}
          value={days}
          onValue={(value) => {
            setDays(value)
            setSeen(undefined)
          }}
        />
        <Button type="submit" busy={look.isBusy}>
          {t.dryRun}
        </Button>
      </form>
      {look.problem && <Notice tone="danger">{look.problem}</Notice>}
      {seen && (
        <>
          <Notice tone={seen.dry_run ? 'warn' : 'ok'}>{seen.message}</Notice>
          <UserTable label={title} users={seen.users} />
          {seen.dry_run && seen.total > 0 && (
            <div>
              <Button look="danger" onClick={() => setAsking(true)}>
                {t.deleteUsers(seen.total)}
              </Button>
            </div>
          )}
        </>
      )}
      {isAsking && seen && (
        <ConfirmDialog
          title={title}
          text={t.confirmUsers(seen.total)}
          action={t.deleteUsers(seen.total)}
          onConfirm={async () => setSeen(await run(query(false)))}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  )
}

function OrphanCleanup({ api }: { api: AdminApi }) {
  const [seen, setSeen] = useState<Schemas['OrphanCleanupResponse']>()
  const [isAsking, setAsking] = useState(false)
  const run = async (isDry: boolean) =>
    setSeen(await unwrap(api.POST('/admin/cleanup-orphans', { params: { query: { dry_run: isDry } } })))
  const look = useSubmit(() => run(true))
  const stores = Object.entries(seen?.orphans ?? {}).filter(([, count]) => count > 0)
  return (
    <section className="card stack-small">
      <h2>{t.orphans}</h2>
      <p className="muted small">{t.orphansText}</p>
      <div>
        <Button busy={look.isBusy} onClick={() => void look.submit()}>
          {t.dryRun}
        </Button>
      </div>
      {look.problem && <Notice tone="danger">{look.problem}</Notice>}
      {seen && (
        <>
          <Notice tone={seen.dry_run ? 'plain' : 'ok'}>
            {seen.message} {t.orphansFound((seen.found ?? 0) + stores.reduce((sum, [, count]) => sum + count, 0))}
          </Notice>
          {stores.length > 0 && (
            <ul className="row">
              {stores.map(([store, count]) => (
                <li key={store} className="badge">
                  {store}: {count}
                </li>
              ))}
            </ul>
          )}
          {seen.dry_run && (stores.length > 0 || (seen.found ?? 0) > 0) && (
            <div>
              <Button look="danger" onClick={() => setAsking(true)}>
                {t.removeOrphans}
              </Button>
            </div>
          )}
        </>
      )}
      {isAsking && (
        <ConfirmDialog
          title={t.orphans}
          text={t.orphansText}
          action={t.removeOrphans}
          onConfirm={() => run(false)}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  )
}

/** The proof of a deletion, by its id. */
function ReceiptSearch({ api }: { api: AdminApi }) {
  const [id, setId] = useState('')
  const [receipt, setReceipt] = useState<Schemas['Receipt']>()
  const form = useSubmit(async () => {
    setReceipt(undefined)
    setReceipt(await unwrap(api.GET('/admin/receipts/{receipt_id}', { params: { path: { receipt_id: id.trim() } } })))
  })
  return (
    <section className="card stack-small">
      <h2>{t.receipts}</h2>
      <form className="search-form" onSubmit={form.onSubmit}>
        <TextField label={t.receiptId} required value={id} onValue={setId} />
        <Button type="submit" busy={form.isBusy}>
          {texts.search}
        </Button>
      </form>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
      {receipt && <ReceiptTable receipt={receipt} />}
    </section>
  )
}
