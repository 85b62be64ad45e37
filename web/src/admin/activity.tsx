import { useQuery } from '@tanstack/react-query'
import { unwrap } from '../lib/api.ts'
import { texts } from '../texts/index.ts'
import { ColumnChart } from '../ui/column-chart.tsx'
import { Problem, Skeleton } from '../ui/states.tsx'
import type { AdminApi } from './api.ts'

const t = texts.admin
const refreshMs = 60_000

/** What happened on each of the last thirty days. */
export function Activity({ api }: { api: AdminApi }) {
  const activity = useQuery({
    queryKey: ['admin', 'activity'],
    refetchInterval: refreshMs,
    queryFn: () => unwrap(api.GET('/admin/activity', { params: { query: { days: 30 } } })),
  })
  if (activity.isPending) return <Skeleton lines={4} height={48} />
  if (activity.isError) return <Problem error={activity.error} onRetry={() => void activity.refetch()} />
  const { days } = activity.data
  type Day = (typeof days)[number]
  const plots = [
    { title: t.newUsers, series: [t.newUsers], valuesOf: (day: Day) => [day.new_users] },
    {
      title: t.runsByDay,
      series: [t.otherRuns, t.failedRuns],
      valuesOf: (day: Day) => [day.runs - day.failed_runs, day.failed_runs],
    },
    {
      title: t.tokensByDay,
      series: [t.promptTokens, t.completionTokens],
      valuesOf: (day: Day) => [day.prompt_tokens, day.completion_tokens],
    },
    { title: t.firstToken, series: [t.firstToken], valuesOf: (day: Day) => [day.first_token_ms ?? 0] },
  ]
  return (
    <div className="plots">
      {plots.map(({ title, series, valuesOf }) => (
        <section key={title} className="card stack-small">
          <h2>{title}</h2>
          <ColumnChart
            label={title}
            series={series}
            entries={days.map((day) => ({ name: day.date, values: valuesOf(day) }))}
          />
        </section>
      ))}
    </div>
  )
}
