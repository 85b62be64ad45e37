import { useQuery } from '@tanstack/react-query'
import type { AdminApi } from '../lib/admin-api.ts'
import { unwrap } from '../lib/api.ts'
import { formatAgo, formatBytes, formatNumber } from '../lib/format.ts'
import { operationMessages } from '../texts/operation.ts'
import { ScrollRegion } from '../ui/scroll-region.tsx'
import { Loading } from '../ui/states.tsx'

const t = operationMessages.admin
const refreshMs = 10_000

/** Whether there are workers for all queues, and files that are being read. */
export function QueuesPage({ api }: { api: AdminApi }) {
  return (
    <>
      <header>
        <h1>{t.pages.queues}</h1>
        <p className="muted">{t.queuesText}</p>
      </header>
      <Queues api={api} />
      <Ingestions api={api} />
    </>
  )
}

/** The backlog and the workers of the task queues. */
export function Queues({ api }: { api: AdminApi }) {
  const queues = useQuery({
    queryKey: ['admin', 'queues'],
    refetchInterval: refreshMs,
    queryFn: () => unwrap(api.GET('/admin/queues')),
  })
  return (
    <section className="card stack-small">
      <h2>{t.queues}</h2>
      <Loading query={queues} lines={4} />
      {queues.data && (
        <ScrollRegion label={t.queues}>
          <table className="table">
            <thead>
              <tr>
                <th>{t.queue}</th>
                <th className="number">{t.pollers}</th>
                <th className="number">{t.backlog}</th>
                <th className="number">{t.backlogAge}</th>
              </tr>
            </thead>
            <tbody>
              {queues.data.queues.map(({ queue, kind, pollers, backlog, backlog_age_seconds: age }) => (
                <tr key={`${queue} ${kind}`}>
                  <td>{t.queueOf(queue, kind)}</td>
                  <td className="number">
                    {pollers === 0 ? <span className="badge badge-danger">0</span> : formatNumber(pollers)}
                  </td>
                  <td className="number">{backlog === null ? t.unknown : formatNumber(backlog)}</td>
                  <td className="number">{age === null ? t.unknown : t.seconds(age)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </section>
  )
}

/** The ingestions under way; those without progress for the longest time come first. */
function Ingestions({ api }: { api: AdminApi }) {
  const open = useQuery({
    queryKey: ['admin', 'ingestions'],
    refetchInterval: refreshMs,
    queryFn: () => unwrap(api.GET('/admin/ingestions')),
  })
  return (
    <section className="card stack-small">
      <h2>{t.ingestions}</h2>
      <Loading query={open} lines={2} />
      {open.data?.ingestions.length === 0 && <p className="muted small">{t.noIngestions}</p>}
      {open.data && open.data.ingestions.length > 0 && (
        <ScrollRegion label={t.ingestions}>
          <table className="table">
            <thead>
              <tr>
                <th>{t.ingestion}</th>
                <th>{t.user}</th>
                <th className="number">{t.files}</th>
                <th className="number">{t.size}</th>
                <th>{t.lastMoved}</th>
              </tr>
            </thead>
            <tbody>
              {open.data.ingestions.map((ingestion) => (
                <tr key={ingestion.ingestion_id}>
                  <td>{ingestion.ingestion_id}</td>
                  <td>{ingestion.user_id}</td>
                  <td className="number">{formatNumber(ingestion.files)}</td>
                  <td className="number">{formatBytes(ingestion.bytes)}</td>
                  <td>{formatAgo(ingestion.updated_at)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </section>
  )
}
