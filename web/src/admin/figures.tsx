import { useQuery } from '@tanstack/react-query'
import { api as publicApi, unwrap } from '../lib/api.ts'
import { formatBytes, formatNumber } from '../lib/format.ts'
import { texts } from '../texts/index.ts'
import { Problem, Skeleton } from '../ui/states.tsx'
import type { AdminApi } from './api.ts'

const t = texts.admin
const refreshMs = 10_000

/** Whether the servers behind the service answer. */
export function Dependencies() {
  const health = useQuery({
    queryKey: ['health'],
    refetchInterval: refreshMs,
    queryFn: () => unwrap(publicApi.GET('/ok')),
  })
  const badges = { ok: 'badge-ok', down: 'badge-danger', not_configured: '' }
  return (
    <section className="card stack-small">
      <div className="spread">
        <h2>{t.health}</h2>
        {health.data && <span className="muted small">{t.version(health.data.version)}</span>}
      </div>
      {health.isPending && <Skeleton lines={2} />}
      {health.isError && <Problem error={health.error} onRetry={() => void health.refetch()} />}
      <ul className="figures figures-wide" aria-live="polite">
        {Object.entries(health.data?.dependencies ?? {}).map(([name, { status, detail }]) => (
          <li key={name} className="stack-tight">
            <strong>{name}</strong>
            <div>
              <span className={`badge ${badges[status]}`}>{t.states[status]}</span>
            </div>
            {detail && <span className="muted small">{detail}</span>}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Number of records of each kind. */
export function Stats({ api }: { api: AdminApi }) {
  const stats = useQuery({
    queryKey: ['admin', 'stats'],
    refetchInterval: refreshMs,
    queryFn: () => unwrap(api.GET('/admin/system-stats')),
  })
  if (stats.isPending) return <Skeleton lines={4} height={48} />
  if (stats.isError) return <Problem error={stats.error} onRetry={() => void stats.refetch()} />
  const { users, projects, assistants, threads, runs, files, deletions } = stats.data
  const figures = [
    [t.users, users.total, t.usersOf(users.verified, users.active_last_30_days)],
    [t.projects, projects.total, ''],
    [t.assistants, assistants.total, t.publicOf(assistants.public)],
    [t.threads, threads.total, t.publicOf(threads.public)],
    [t.runs, runs.total, ''],
    [t.files, files.total, formatBytes(files.bytes)],
    [t.failedDeletions, deletions.failed, ''],
  ] as const
  const most = Math.max(1, ...Object.values(runs.by_status))
  return (
    <>
      <dl className="figures">
        {figures.map(([label, value, note]) => (
          <div key={label} className="tile">
            <dt className="muted small">{label}</dt>
            <dd>
              <div className="figure">{formatNumber(value)}</div>
              {note && <div className="muted small">{note}</div>}
            </dd>
          </div>
        ))}
      </dl>
      <section className="card stack-small">
        <h2>{t.byStatus}</h2>
        <ul className="stack-small">
          {Object.entries(runs.by_status).map(([status, count]) => (
            <li key={status} className="stack-tight">
              <div className="spread small">
                <span>{status}</span>
                <span className="muted">{formatNumber(count)}</span>
              </div>
              <div className="progress">
                <div style={{ width: `${(100 * count) / most}%` }} />
              </div>
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}
