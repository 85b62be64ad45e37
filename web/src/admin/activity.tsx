import { useQuery } from '@tanstack/react-query'
import type { AdminApi } from '../lib/admin-api.ts'
import { unwrap } from '../lib/api.ts'
import { formatDay, formatNumber } from '../lib/format.ts'
import { operationMessages } from '../texts/operation.ts'
import { ColumnChart } from '../ui/column-chart.tsx'
import { Loading } from '../ui/states.tsx'

const t = operationMessages.admin
const refreshMs = 60_000

/** Four figures of the last thirty days; their plots by day are folded away. */
export function Activity({ api }: { api: AdminApi }) {
  const activity = useQuery({
    queryKey: ['admin', 'activity'],
    refetchInterval: refreshMs,
    queryFn: () => unwrap(api.GET('/admin/activity', { params: { query: { days: 30 } } })),
  })
  if (!activity.isSuccess) return <Loading query={activity} lines={4} height={48} />
  const { days } = activity.data
  type Day = (typeof days)[number]
  const sum = (valueOf: (day: Day) => number) => days.reduce((total, day) => total + valueOf(day), 0)
  const timed = days.filter((day) => day.first_token_ms !== undefined)
  const meanMs = timed.length === 0 ? 0 : sum((day) => day.first_token_ms ?? 0) / timed.length
  const failed = sum((day) => day.failed_runs)
  const runs = sum((day) => day.runs)
  const figures = [
    { label: t.newUsers, value: formatNumber(sum((day) => day.new_users)), note: '', of: (day: Day) => day.new_users },
    { label: t.runs, value: formatNumber(runs), note: t.failedOf(formatNumber(failed)), of: (day: Day) => day.runs },
    {
      label: t.tokens,
      value: formatNumber(sum((day) => day.total_tokens)),
      note: '',
      of: (day: Day) => day.total_tokens,
    },
    {
      label: t.firstToken,
      value: timed.length === 0 ? t.unknown : t.milliseconds(formatNumber(Math.round(meanMs))),
      note: '',
      of: (day: Day) => day.first_token_ms ?? 0,
    },
  ]
  const plots = [
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
  ]
  return (
    <section className="stack">
      <h2>{t.thirtyDays}</h2>
      <dl className="op-figures">
        {figures.map(({ label, value, note, of }) => (
          <div key={label} className="op-figure">
            <dt className="muted small">{label}</dt>
            <dd>
              <div className="figure">{value}</div>
              {note && <div className="muted small">{note}</div>}
              <Spark values={days.map(of)} />
            </dd>
          </div>
        ))}
      </dl>
      <div className="plots">
        {plots.map(({ title, series, valuesOf }) => (
          <section key={title} className="card stack-small">
            <h3>{title}</h3>
            <ColumnChart
              label={title}
              series={series}
              entries={days.map((day) => ({ name: formatDay(day.date), values: valuesOf(day) }))}
            />
          </section>
        ))}
      </div>
    </section>
  )
}

/** A figure by day, without axes: the numbers stand in the tables of the plots. */
function Spark({ values }: { values: number[] }) {
  const top = Math.max(1, ...values)
  return (
    <svg className="spark" viewBox={`0 0 ${values.length * 4} 40`} preserveAspectRatio="none" aria-hidden="true">
      {values.map((value, place) => (
        <rect key={place} x={place * 4} width={3} y={40 - (38 * value) / top} height={(38 * value) / top} />
      ))}
    </svg>
  )
}
