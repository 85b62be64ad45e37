import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../lib/api.ts'
import { formatDate, formatDateTime, formatTime } from '../lib/format.ts'
import { auditMessages } from '../texts/audit.ts'
import '../styles/audit.css'
import { AuditSentence, type Names, agentWords } from './audit-sentence.tsx'
import { Button } from './button.tsx'
import { CopyButton } from './code-block.tsx'
import { SelectField } from './field.tsx'
import { Loading } from './states.tsx'

const t = auditMessages
type Entry = Schemas['AuditEntry']

interface AuditLogProps {
  /** Of the cached pages. */
  name: readonly string[]
  /** The words of each action, by its name. */
  words: Record<string, string>
  read: (query: { limit: number; action?: string; before?: string }) => Promise<Schemas['AuditPage']>
  /** Whether the reader is the account that the entries are about. */
  isOwn?: boolean
}

const pageSize = 50

/** The audit log, newest first, page by page, with a filter by action. */
export function AuditLog({ name, words, read, isOwn = false }: AuditLogProps) {
  const [action, setAction] = useState('')
  const log = useInfiniteQuery({
    queryKey: [...name, action],
    initialPageParam: '',
    queryFn: ({ pageParam: before }) => read({ limit: pageSize, ...(action && { action }), ...(before && { before }) }),
    getNextPageParam: ({ entries, has_more: hasMore }) => (hasMore ? entries.at(-1)?.entry_id : undefined),
  })
  const entries = log.data?.pages.flatMap((page) => page.entries) ?? []
  const names: Names = Object.fromEntries(log.data?.pages.flatMap((page) => Object.entries(page.names)) ?? [])
  return (
    <>
      <div className="half">
        <SelectField label={t.filter} value={action} onValue={setAction}>
          <option value="">{t.all}</option>
          {[...actionsByLabel(words)].map(([label, actions]) => (
            <option key={label} value={actions.join(',')}>
              {label}
            </option>
          ))}
        </SelectField>
      </div>
      <Loading query={log} lines={6} />
      {log.data && entries.length === 0 && <p className="muted">{t.none}</p>}
      {entries.length > 0 && <EntryList entries={entries} names={names} isOwn={isOwn} />}
      {log.hasNextPage && (
        <div>
          <Button busy={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            {t.older}
          </Button>
        </div>
      )}
    </>
  )
}

interface EntryListProps {
  entries: Entry[]
  names: Names
  isOwn: boolean
}

/** The entries by day. The client's own words are behind a click; ids are only in what is copied. */
function EntryList({ entries, names, isOwn }: EntryListProps) {
  const days = Map.groupBy(entries, ({ last_at: at }) => formatDate(at))
  return [...days].map(([day, ofDay]) => (
    <section key={day} className="stack-tight">
      <h2 className="section-label">{day}</h2>
      <ul className="audit-list">
        {ofDay.map((entry) => (
          <li key={entry.entry_id}>
            <details>
              <summary className="audit-row">
                <time className="muted small" dateTime={entry.last_at}>
                  {formatTime(entry.last_at)}
                </time>
                <span className="grow">
                  <AuditSentence entry={entry} names={names} isOwn={isOwn} />
                </span>
                <span className="muted small">{agentWords(entry.user_agent) ?? ''}</span>
              </summary>
              <dl className="audit-facts small">
                <Fact label={t.when} value={formatDateTime(entry.last_at)} />
                <Fact label={t.what} value={entry.action} />
                <Fact label={t.from} value={entry.client ?? t.hidden} />
                {entry.user_agent && <Fact label={t.agent} value={entry.user_agent} />}
                {entry.user_id && !isOwn && <Fact label={t.account} value={names[entry.user_id] ?? t.something} />}
                {entry.subjects.length > 0 && <Fact label={t.subjects} value={namesOf(entry.subjects, names)} />}
              </dl>
              <div className="audit-copy">
                <CopyButton text={() => JSON.stringify(entry, undefined, 2)} label={t.copyEntry} />
              </div>
            </details>
          </li>
        ))}
      </ul>
    </section>
  ))
}

/** What has no name any more is counted. */
function namesOf(ids: string[], names: Names): string {
  const known = ids.flatMap((id) => names[id] ?? [])
  const gone = ids.length - known.length
  return [...new Set(known), ...(gone > 0 ? [t.nameless(gone)] : [])].join(', ')
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <>
      <dt className="muted">{label}</dt>
      <dd className="break">{value}</dd>
    </>
  )
}

/** Operations that do the same, such as those of two interfaces, are one choice. */
function actionsByLabel(words: Record<string, string>): Map<string, string[]> {
  const named = Map.groupBy(Object.entries(words), ([, label]) => label)
  return new Map([...named].map(([label, entries]) => [label, entries.map(([action]) => action)]))
}
