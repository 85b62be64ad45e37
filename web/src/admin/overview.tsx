import { useQuery } from '@tanstack/react-query'
import { ChevronDown } from 'lucide-react'
import type { AdminApi } from '../lib/admin-api.ts'
import { api as publicApi, unwrap, useConsoleSettings } from '../lib/api.ts'
import { formatBytes, formatNumber } from '../lib/format.ts'
import { operationMessages } from '../texts/operation.ts'
import { Loading } from '../ui/states.tsx'
import { Activity } from './activity.tsx'

const t = operationMessages.admin
const refreshMs = 10_000
const badges = { ok: 'badge-ok', down: 'badge-danger', not_configured: '' }

/** Whether all is well, what was used in thirty days, and what the service holds. */
export function Overview({ api }: { api: AdminApi }) {
  return (
    <>
      <header className="page-head">
        <h1>{t.pages.overview}</h1>
        <WorkflowLinks />
      </header>
      <Health api={api} />
      <Activity api={api} />
      <Stats api={api} />
    </>
  )
}

function WorkflowLinks() {
  const settings = useConsoleSettings()
  if (!settings?.temporal_ui_url) return undefined
  const { temporal_ui_url: ui, temporal_namespace: namespace } = settings
  const search = (status: string) =>
    `${ui}/namespaces/${namespace}/workflows?query=${encodeURIComponent(`ExecutionStatus="${status}"`)}`
  return (
    <div className="row">
      <a className="button button-small" href={search('Running')} target="_blank" rel="noreferrer">
        {t.runningWorkflows}
      </a>
      <a className="button button-small" href={search('Failed')} target="_blank" rel="noreferrer">
        {t.failedWorkflows}
      </a>
    </div>
  )
}

/** One line while all is well; what is not well stands below it. */
function Health({ api }: { api: AdminApi }) {
  const health = useQuery({
    queryKey: ['health'],
    refetchInterval: refreshMs,
    queryFn: () => unwrap(publicApi.GET('/ok')),
  })
  const stats = useStats(api)
  if (!health.isSuccess) return <Loading query={health} lines={1} />
  const dependencies = Object.entries(health.data.dependencies)
  const down = dependencies.filter(([, { status }]) => status === 'down')
  const failed = stats.data?.deletions.failed ?? 0
  const isWell = down.length === 0 && failed === 0
  const problems = [
    ...down.map(([name]) => t.unreachable(name)),
    ...(failed > 0 ? [t.deletionsFailed(formatNumber(failed))] : []),
  ]
  return (
    <details className="card stack-small" open={!isWell} key={String(isWell)}>
      <summary className="health-summary">
        <span className="op-line" aria-live="polite">
          <span className="op-dot" data-tone={isWell ? 'ok' : 'danger'} aria-hidden="true" />
          <strong className="grow">{isWell ? t.allWell : problems.join(' · ')}</strong>
          <span className="muted small">{t.version(health.data.version)}</span>
          <ChevronDown size={16} aria-hidden="true" />
        </span>
      </summary>
      <ul className="figures figures-wide">
        {dependencies.map(([name, { status, detail }]) => (
          <li key={name} className="stack-tight">
            <strong>{name}</strong>
            <div>
              <span className={`badge ${badges[status]}`}>{t.states[status]}</span>
            </div>
            {detail && <span className="muted small break">{detail}</span>}
          </li>
        ))}
      </ul>
    </details>
  )
}

const useStats = (api: AdminApi) =>
  useQuery({
    queryKey: ['admin', 'stats'],
    refetchInterval: refreshMs,
    queryFn: () => unwrap(api.GET('/admin/system-stats')),
  })

/** How much there is of each kind. */
function Stats({ api }: { api: AdminApi }) {
  const stats = useStats(api)
  if (!stats.isSuccess) return <Loading query={stats} lines={4} />
  const { users, projects, assistants, threads, runs, files } = stats.data
  const rows = [
    [t.users, users.total, t.usersOf(users.verified, users.active_last_30_days)],
    [t.projects, projects.total, ''],
    [t.assistants, assistants.total, t.publicOf(assistants.public)],
    [t.threads, threads.total, t.publicOf(threads.public)],
    [t.files, files.total, formatBytes(files.bytes)],
    ...Object.entries(runs.by_status).map(([status, count]) => [t.runsOf(status), count, ''] as const),
  ] as const
  return (
    <section className="card stack-small">
      <h2>{t.holds}</h2>
      <table className="table">
        <tbody>
          {rows.map(([label, value, note]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td className="number">{formatNumber(value)}</td>
              <td className="muted small">{note}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
