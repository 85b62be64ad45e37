import { Link } from '@tanstack/react-router'
import { type Schemas, useAssistants, useUsage } from '../lib/api.ts'
import { formatBytes, formatCost, formatNumber } from '../lib/format.ts'
import { useTitle } from '../lib/use-title.ts'
import { texts } from '../texts/index.ts'
import { ColumnChart } from '../ui/column-chart.tsx'
import { Problem, ProgressBar, Skeleton } from '../ui/states.tsx'

const t = texts.usage
type UserUsage = Schemas['UserUsage']

/** What the account has used, and its limits. */
export function Usage() {
  useTitle(t.title)
  const usage = useUsage()
  return (
    <div className="page">
      <header>
        <h1>{t.title}</h1>
        <p className="muted">{t.text}</p>
      </header>
      {usage.isPending && <Skeleton lines={5} height={48} />}
      {usage.isError && <Problem error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.data && <Figures usage={usage.data} />}
    </div>
  )
}

function Figures({ usage }: { usage: UserUsage }) {
  const figures = [
    [t.runs, usage.runs],
    [t.tokens, usage.total_tokens],
    [t.assistants, usage.assistants],
    [t.files, usage.files],
    [t.projects, usage.projects],
    ...(usage.storage_max_mb === null ? [[t.storage, formatBytes(usage.storage_bytes)] as const] : []),
    ...(usage.cost > 0 ? [[t.cost, formatCost(usage.cost, usage.currency)] as const] : []),
  ] as const
  return (
    <>
      <section className="card stack-small">
        <Quota
          title={t.quota}
          text={t.quotaOf(usage.thread_counter, usage.thread_max)}
          share={usage.thread_counter / usage.thread_max}
        />
        <p className="small">
          <Link to="/console/plans">{t.plans}</Link>
        </p>
      </section>
      {usage.storage_max_mb !== null && (
        <section className="card stack-small">
          <Quota
            title={t.storage}
            text={t.storageOf(formatBytes(usage.storage_bytes), formatNumber(usage.storage_max_mb))}
            share={usage.storage_bytes / (usage.storage_max_mb * 1024 * 1024)}
          />
        </section>
      )}
      <dl className="figures">
        {figures.map(([label, value]) => (
          <div key={label} className="tile">
            <dt className="muted small">{label}</dt>
            <dd className="figure">{typeof value === 'number' ? formatNumber(value) : value}</dd>
          </div>
        ))}
      </dl>
      {usage.runs === 0 ? (
        <p className="muted">{t.noRuns}</p>
      ) : (
        <>
          <section className="card stack-small">
            <div>
              <h2>{t.byDay}</h2>
              <p className="muted small">{t.byDayText}</p>
            </div>
            <ColumnChart
              label={t.byDay}
              entries={lastDays(usage.days).map(({ date, prompt_tokens: prompt, completion_tokens: completion }) => ({
                name: date,
                values: [prompt, completion],
              }))}
              series={[t.prompt, t.completion]}
            />
          </section>
          <Shares usage={usage} />
        </>
      )}
    </>
  )
}

/** `share` is not a number when nothing is used of nothing. */
function Quota({ title, text, share }: { title: string; text: string; share: number }) {
  return (
    <>
      <div className="spread">
        <h2>{title}</h2>
        <span>{text}</span>
      </div>
      <ProgressBar value={Number.isNaN(share) ? 1 : Math.min(1, share)} label={title} />
    </>
  )
}

/** Tokens by assistant, and by the model that was asked. */
function Shares({ usage }: { usage: UserUsage }) {
  const assistants = useAssistants()
  const nameOf = (id: string) => assistants.data?.find(({ assistant_id: other }) => other === id)?.name
  const byAssistant = usage.assistants_used.map(({ assistant_id: id, total_tokens: tokens }) => ({
    name: nameOf(id) ?? t.otherAssistant,
    tokens,
  }))
  const byModel = usage.models_used.map(({ model, total_tokens: tokens }) => ({
    name: model || t.unknownModel,
    tokens,
  }))
  return (
    <div className="grid">
      <ShareList title={t.byAssistant} entries={summed(byAssistant)} />
      <ShareList title={t.byModel} entries={summed(byModel)} />
    </div>
  )
}

interface Share {
  name: string
  tokens: number
}

function summed(entries: Share[]): Share[] {
  const sums = new Map<string, number>()
  for (const { name, tokens } of entries) sums.set(name, (sums.get(name) ?? 0) + tokens)
  return [...sums].map(([name, tokens]) => ({ name, tokens })).toSorted((a, b) => b.tokens - a.tokens)
}

function ShareList({ title, entries }: { title: string; entries: Share[] }) {
  const most = Math.max(1, ...entries.map(({ tokens }) => tokens))
  return (
    <section className="card stack-small">
      <h2>{title}</h2>
      <ul className="stack-small">
        {entries.map(({ name, tokens }) => (
          <li key={name} className="stack-tight">
            <div className="spread small">
              <span className="truncate">{name}</span>
              <span className="muted">{texts.chat.tokens(tokens)}</span>
            </div>
            <div className="progress">
              <div style={{ width: `${(100 * tokens) / most}%` }} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

const days = 30

/** Every day of the last month, including those without runs. */
function lastDays(
  known: UserUsage['days'],
): Pick<UserUsage['days'][number], 'date' | 'prompt_tokens' | 'completion_tokens'>[] {
  const byDate = new Map(known.map((day) => [day.date, day]))
  return Array.from({ length: days }, (_, place) => {
    const date = new Date(Date.now() - (days - 1 - place) * 86_400_000).toISOString().slice(0, 10)
    return byDate.get(date) ?? { date, prompt_tokens: 0, completion_tokens: 0 }
  })
}
