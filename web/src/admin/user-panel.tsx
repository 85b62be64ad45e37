import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { AdminApi } from '../lib/admin-api.ts'
import { type Schemas, queryClient, unwrap } from '../lib/api.ts'
import { formatAgo, formatBytes, formatNumber } from '../lib/format.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { texts } from '../texts/index.ts'
import { operationMessages } from '../texts/operation.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { CopyButton } from '../ui/code-block.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { ScrollRegion } from '../ui/scroll-region.tsx'
import { Loading } from '../ui/states.tsx'
import { providerName } from './provider-name.ts'

const t = operationMessages.admin
type Details = Schemas['AdminUserDetails']

interface UserPanelProps {
  api: AdminApi
  userId: string
  onClose: () => void
}

/** One user: quota, runs, suspension. */
export function UserPanel({ api, userId, onClose }: UserPanelProps) {
  const key = ['admin', 'user', userId]
  const user = useQuery({
    queryKey: key,
    queryFn: () => unwrap(api.GET('/admin/users', { params: { query: { user_id: userId } } })),
  })
  // Not on the panel: the focus is nowhere when a button of the panel has gone. A dialog closes itself.
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) onClose()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [onClose])
  const change = (details: Details) => {
    queryClient.setQueryData(key, details)
    void queryClient.invalidateQueries({ queryKey: ['admin', 'users'] })
  }
  return (
    <aside className="op-panel" aria-label={user.data?.user.email ?? t.user}>
      <div className="row row-end">
        <IconButton label={texts.close} icon={<X size={18} />} autoFocus onClick={onClose} />
      </div>
      <Loading query={user} lines={6} />
      {user.data && <UserCard api={api} details={user.data} onChange={change} />}
    </aside>
  )
}

interface UserCardProps {
  api: AdminApi
  details: Details
  onChange: (details: Details) => void
}

function UserCard({ api, details, onChange }: UserCardProps) {
  const { user, usage, suspended_at: suspendedAt } = details
  const figures = [
    [t.threadsUsed, `${formatNumber(user.thread_counter)} / ${formatNumber(details.thread_max)}`],
    [t.runs, formatNumber(usage.runs)],
    [t.tokens, formatNumber(usage.total_tokens)],
    [t.assistants, formatNumber(usage.assistants)],
    [t.files, formatNumber(usage.files)],
    [
      t.storage,
      usage.storage_max_mb === null
        ? formatBytes(usage.storage_bytes)
        : `${formatBytes(usage.storage_bytes)} / ${formatNumber(usage.storage_max_mb)} MB`,
    ],
  ] as const
  return (
    <div className="stack-small">
      <div className="spread">
        <h2 className="break">{user.email ?? t.nameless}</h2>
        <span className={`badge ${suspendedAt === null ? 'badge-ok' : 'badge-danger'}`}>
          {suspendedAt === null ? t.active : t.suspendedSince(formatAgo(suspendedAt))}
        </span>
      </div>
      <div className="spread">
        <p className="muted small break">{t.userLine(providerName(user.provider), formatAgo(user.last_active_at))}</p>
        <CopyButton text={user.user_id} label={t.copyId} />
      </div>
      {details.suspension_reason && <p className="small">{details.suspension_reason}</p>}
      <dl className="figures">
        {figures.map(([label, value]) => (
          <div key={label} className="stack-tight">
            <dt className="muted small">{label}</dt>
            <dd>
              <strong>{value}</strong>
            </dd>
          </div>
        ))}
      </dl>
      <ThreadMax api={api} details={details} onChange={onChange} />
      <StorageMax api={api} details={details} onChange={onChange} />
      <Suspension api={api} details={details} onChange={onChange} />
      <RecentRuns runs={details.recent_runs} />
    </div>
  )
}

function ThreadMax({ api, details, onChange }: UserCardProps) {
  const [threadMax, setThreadMax] = useState(String(details.thread_max_base))
  const path = { user_id: details.user.user_id }
  const form = useSubmit(async () => {
    const body = { thread_max: Number(threadMax) }
    onChange(await unwrap(api.PUT('/admin/users/{user_id}/thread-max', { params: { path }, body })))
  })
  return (
    <form className="search-form" onSubmit={form.onSubmit}>
      <TextField
        label={t.threadMax}
        type="number"
        min={0}
        max={1_000_000_000}
        required
        value={threadMax}
        onValue={setThreadMax}
      />
      <Button type="submit" busy={form.isBusy}>
        {t.change}
      </Button>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
    </form>
  )
}

function StorageMax({ api, details, onChange }: UserCardProps) {
  const [storageMax, setStorageMax] = useState(details.storage_max_mb === null ? '' : String(details.storage_max_mb))
  const path = { user_id: details.user.user_id }
  const form = useSubmit(async () => {
    const body = { storage_max_mb: storageMax === '' ? null : Number(storageMax) }
    onChange(await unwrap(api.PUT('/admin/users/{user_id}/storage-max', { params: { path }, body })))
  })
  return (
    <form className="search-form" onSubmit={form.onSubmit}>
      <TextField
        label={t.storageMax}
        type="number"
        min={0}
        max={1_000_000_000}
        value={storageMax}
        onValue={setStorageMax}
      />
      <Button type="submit" busy={form.isBusy}>
        {t.change}
      </Button>
      {form.problem && <Notice tone="danger">{form.problem}</Notice>}
    </form>
  )
}

function Suspension({ api, details, onChange }: UserCardProps) {
  const [reason, setReason] = useState('')
  const [isAsking, setAsking] = useState(false)
  const path = { user_id: details.user.user_id }
  const restore = useSubmit(async () =>
    onChange(await unwrap(api.POST('/admin/users/{user_id}/restore', { params: { path } }))),
  )
  const ask = useSubmit(async () => setAsking(true))
  if (details.suspended_at !== null) {
    return (
      <div className="stack-small">
        {restore.problem && <Notice tone="danger">{restore.problem}</Notice>}
        <div>
          <Button busy={restore.isBusy} onClick={() => void restore.submit()}>
            {t.restore}
          </Button>
        </div>
      </div>
    )
  }
  return (
    <form className="search-form" onSubmit={ask.onSubmit}>
      <TextField label={t.reason} required maxLength={1000} value={reason} onValue={setReason} />
      <Button type="submit" look="danger">
        {t.suspend}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t.suspend}
          text={t.suspendText(details.user.email ?? t.nameless)}
          action={t.suspendAction}
          onConfirm={async () =>
            onChange(await unwrap(api.POST('/admin/users/{user_id}/suspend', { params: { path }, body: { reason } })))
          }
          onClose={() => setAsking(false)}
        />
      )}
    </form>
  )
}

function RecentRuns({ runs }: { runs: Details['recent_runs'] }) {
  if (runs.length === 0) return undefined
  return (
    <ScrollRegion label={t.recentRuns}>
      <table className="table">
        <thead>
          <tr>
            <th>{t.recentRuns}</th>
            <th>{t.status}</th>
            <th className="number">{t.tokens}</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.run_id}>
              <td>{formatAgo(run.created_at)}</td>
              <td>{run.error_type ?? run.status}</td>
              <td className="number">{formatNumber(run.total_tokens)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}
