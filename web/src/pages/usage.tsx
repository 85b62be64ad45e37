import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { type Schemas, api, keys, unwrap, useAssistants, useConsoleSettings } from '../lib/api.ts'
import { formatBytes, formatCost, formatDay, formatNumber } from '../lib/format.ts'
import { usageCsv } from '../lib/usage-csv.ts'
import { useTitle } from '../lib/use-title.ts'
import '../styles/usage.css'
import { texts } from '../texts/index.ts'
import { Button } from '../ui/button.tsx'
import { ColumnChart } from '../ui/column-chart.tsx'
import { SelectField } from '../ui/field.tsx'
import { ScrollRegion } from '../ui/scroll-region.tsx'
import { Loading, ProgressBar } from '../ui/states.tsx'

const t = texts.usage
type UserUsage = Schemas['UserUsage']

const ranges = [7, 30, 90, 365] as const
type Range = (typeof ranges)[number]

/** What the account has used, and its limits. */
export function Usage() {
  useTitle(t.title)
  const [range, setRange] = useState<Range>(30)
  const usage = useQuery({
    queryKey: [...keys.usage, range],
    placeholderData: keepPreviousData,
    queryFn: () => unwrap(api.GET('/user/usage', { params: { query: { days: range } } })),
  })
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p className="muted">{t.text}</p>
        </div>
        <SelectField
          label={t.range}
          value={String(range)}
          onValue={(value) => setRange(ranges.find((days) => String(days) === value) ?? 30)}
        >
          {ranges.map((days) => (
            <option key={days} value={days}>
              {t.lastDays(days)}
            </option>
          ))}
        </SelectField>
      </header>
      <Loading query={usage} lines={5} height={48} />
      {usage.data && (
        <>
          <Spent usage={usage.data} range={range} />
          <Limits usage={usage.data} />
        </>
      )}
    </div>
  )
}

/** What the runs of the range took. */
function Spent({ usage, range }: { usage: UserUsage; range: Range }) {
  const nameOf = useAssistantNames()
  const figures = [
    [t.runs, formatNumber(usage.runs)],
    [t.tokens, formatNumber(usage.total_tokens)],
    [t.cost, usage.cost > 0 ? formatCost(usage.cost, usage.currency) : usage.runs === 0 ? '–' : t.costUnknown],
  ] as const
  const days = lastDays(usage.days, range)
  return (
    <>
      <dl className="figures">
        {figures.map(([label, value]) => (
          <div key={label} className="tile">
            <dt className="muted small">{label}</dt>
            <dd className="figure">{value}</dd>
          </div>
        ))}
      </dl>
      {usage.runs === 0 ? (
        <p className="muted">{t.noRuns}</p>
      ) : (
        <>
          <section className="card stack-small">
            <div className="spread">
              <h2>{t.byDay}</h2>
              <Button size="small" onClick={() => saveCsv(usageCsv(usage, nameOf), range)}>
                <Download size={15} aria-hidden="true" />
                {t.csv}
              </Button>
            </div>
            <ColumnChart
              label={t.byDay}
              entries={days.map(({ date, prompt_tokens: prompt, completion_tokens: completion }) => ({
                name: formatDay(date),
                values: [prompt, completion],
              }))}
              series={[t.prompt, t.completion]}
            />
          </section>
          <Shares
            title={t.byAssistant}
            currency={usage.currency}
            rows={usage.assistants_used.map((row) => ({ ...row, name: nameOf(row.assistant_id) }))}
          />
          <Shares
            title={t.byModel}
            currency={usage.currency}
            rows={usage.models_used.map((row) => ({ ...row, name: row.model || t.unknownModel }))}
          />
        </>
      )}
    </>
  )
}

function useAssistantNames(): (id: string) => string {
  const assistants = useAssistants()
  return (id) => assistants.data?.find(({ assistant_id: other }) => other === id)?.name ?? t.otherAssistant
}

interface Share {
  name: string
  runs: number
  total_tokens: number
  cost: number
}

/** Answers, tokens and cost of each; those of the same name together. */
function Shares({ title, rows, currency }: { title: string; rows: Share[]; currency: string }) {
  const entries = [...Map.groupBy(rows, ({ name }) => name)].map(([name, same]) => ({
    name,
    runs: same.reduce((sum, row) => sum + row.runs, 0),
    tokens: same.reduce((sum, row) => sum + row.total_tokens, 0),
    cost: same.reduce((sum, row) => sum + row.cost, 0),
  }))
  const all = entries.reduce((sum, { tokens }) => sum + tokens, 0) || 1
  return (
    <section className="card stack-small">
      <h2>{title}</h2>
      <ScrollRegion label={title}>
        <table className="table">
          <thead>
            <tr>
              <th>{texts.name}</th>
              <th className="number">{t.runs}</th>
              <th className="number">{t.tokens}</th>
              <th className="number">{t.cost}</th>
            </tr>
          </thead>
          <tbody>
            {entries.map(({ name, runs, tokens, cost }) => (
              <tr key={name}>
                <th scope="row" className="share">
                  {name}
                  <div className="progress" aria-hidden="true">
                    <div style={{ width: `${(100 * tokens) / all}%` }} />
                  </div>
                </th>
                <td className="number">{formatNumber(runs)}</td>
                <td className="number">{formatNumber(tokens)}</td>
                <td className="number">{cost > 0 ? formatCost(cost, currency) : '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </section>
  )
}

/** What the account has now, and what it may have. */
function Limits({ usage }: { usage: UserUsage }) {
  const sells = useConsoleSettings()?.billing === true
  const quotas = [
    {
      title: t.quota,
      text: t.quotaOf(usage.thread_counter, usage.thread_max),
      share: usage.thread_counter / usage.thread_max,
    },
    ...(usage.storage_max_mb === null
      ? []
      : [
          {
            title: t.storage,
            text: t.storageOf(formatBytes(usage.storage_bytes), formatNumber(usage.storage_max_mb)),
            share: usage.storage_bytes / (usage.storage_max_mb * 1024 * 1024),
          },
        ]),
  ]
  const has = [
    t.has.assistants(usage.assistants),
    t.has.files(usage.files, formatBytes(usage.storage_bytes)),
    t.has.projects(usage.projects),
  ]
  return (
    <section className="card stack">
      {quotas.map(({ title, text, share }) => (
        <div key={title} className="stack-small" data-scarce={share >= 0.9 || undefined}>
          <div className="spread">
            <h2>{title}</h2>
            <span>{text}</span>
          </div>
          {/* The share is not a number when nothing is used of nothing. */}
          <ProgressBar value={Number.isNaN(share) ? 1 : Math.min(1, share)} label={title} />
        </div>
      ))}
      {usage.thread_counter >= usage.thread_max * 0.9 && (
        <p className="small">
          <Link to="/console/chat" search={{ choose: true }}>
            {texts.chat.chooseChats}
          </Link>
        </p>
      )}
      <p className="muted small">{has.join(' · ')}</p>
      {sells && (
        <p className="small">
          <Link to="/console/plans">{t.plans}</Link>
        </p>
      )}
    </section>
  )
}

function saveCsv(csv: string, range: Range): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }))
  link.download = `usage-${range}-days.csv`
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Every day of the range, including those without runs. */
function lastDays(
  known: UserUsage['days'],
  range: Range,
): Pick<UserUsage['days'][number], 'date' | 'prompt_tokens' | 'completion_tokens'>[] {
  const byDate = new Map(known.map((day) => [day.date, day]))
  return Array.from({ length: range }, (_, place) => {
    const date = new Date(Date.now() - (range - 1 - place) * 86_400_000).toISOString().slice(0, 10)
    return byDate.get(date) ?? { date, prompt_tokens: 0, completion_tokens: 0 }
  })
}
