import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Schemas, api, keys, unwrap } from '../../lib/api.ts'
import { runErrorMessage } from '../../lib/error-messages.ts'
import { formatDateTime } from '../../lib/format.ts'
import { scheduleMessages } from '../../texts/schedules.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Loading } from '../../ui/states.tsx'

const t = scheduleMessages
type ScheduleRun = Schemas['ScheduleRun']

/** The runs of a schedule, newest first, each with its answer. */
export function ScheduleHistory({ schedule, onClose }: { schedule: Schemas['Schedule']; onClose: () => void }) {
  const runs = useQuery({
    queryKey: keys.scheduleRuns(schedule.schedule_id),
    queryFn: () =>
      unwrap(api.GET('/schedules/{schedule_id}/runs', { params: { path: { schedule_id: schedule.schedule_id } } })),
    refetchInterval: 3000,
  })
  return (
    <Dialog title={t.history} onClose={onClose}>
      <Loading query={runs} lines={3} />
      {runs.data?.runs.length === 0 && <p className="muted">{t.noRuns}</p>}
      <ul className="file-list">
        {runs.data?.runs.map((run) => (
          <li key={run.run_id} className="file-row">
            <div className="grow stack-tight">
              <div className="spread">
                <Link to="/console/chat/$threadId" params={{ threadId: run.thread_id }}>
                  {formatDateTime(run.due_at)}
                </Link>
                <span className="badge">{t.status[run.status]}</span>
              </div>
              <Answer run={run} />
            </div>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

function Answer({ run }: { run: ScheduleRun }) {
  const isDone = run.status === 'success'
  const answer = useQuery({
    queryKey: keys.scheduleAnswer(run.run_id),
    enabled: isDone,
    staleTime: Infinity,
    queryFn: () => unwrap(api.GET('/runs/{run_id}', { params: { path: { run_id: run.run_id } } })),
  })
  if (run.error !== null) return <p className="muted small">{runErrorMessage(run.error.type)}</p>
  const last = answer.data?.output.findLast(({ type }) => type === 'AIMessage')
  return last ? <p className="small">{last.data.content}</p> : undefined
}
