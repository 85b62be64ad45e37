import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schemas } from '../lib/api.ts'
import { formatDateTime, formatNumber } from '../lib/format.ts'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'
import { SelectField } from './field.tsx'
import { ScrollRegion } from './scroll-region.tsx'
import { Problem, Skeleton } from './states.tsx'

const t = texts.audit
type Entry = Schemas['AuditEntry']

interface AuditLogProps {
  /** Of the cached pages. */
  name: readonly string[]
  /** The words of each action, by its name. */
  words: Record<string, string>
  read: (query: { limit: number; action?: string; before?: string }) => Promise<Schemas['AuditPage']>
  /** Whether entries of several accounts are shown. */
  hasUsers?: boolean
}

const pageSize = 50

/** The audit log, newest first, page by page, with a filter by action. */
export function AuditLog({ name, words, read, hasUsers = false }: AuditLogProps) {
  const [action, setAction] = useState('')
  const log = useInfiniteQuery({
    queryKey: [...name, action],
    initialPageParam: '',
    queryFn: ({ pageParam: before }) => read({ limit: pageSize, ...(action && { action }), ...(before && { before }) }),
    getNextPageParam: ({ entries, has_more: hasMore }) => (hasMore ? entries.at(-1)?.entry_id : undefined),
  })
  const entries = log.data?.pages.flatMap((page) => page.entries) ?? []
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
      {log.isPending && <Skeleton lines={6} />}
      {log.isError && <Problem error={log.error} onRetry={() => void log.refetch()} />}
      {log.data && entries.length === 0 && <p className="muted">{t.none}</p>}
      {entries.length > 0 && <EntryTable entries={entries} hasUsers={hasUsers} />}
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

function EntryTable({ entries, hasUsers }: { entries: Entry[]; hasUsers: boolean }) {
  return (
    <ScrollRegion label={t.title}>
      <table className="table">
        <thead>
          <tr>
            <th>{t.when}</th>
            <th>{t.what}</th>
            {hasUsers && <th>{t.account}</th>}
            <th>{t.who}</th>
            <th>{t.from}</th>
            <th>{t.subjects}</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.entry_id}>
              <td className="nowrap">{formatDateTime(entry.last_at)}</td>
              <td>
                {labelOf(entry.action)}
                {entry.count > 1 && ` ${t.times(formatNumber(entry.count))}`}
                {entry.outcome === 'refused' && <span className="badge badge-warn">{t.refused}</span>}
              </td>
              {hasUsers && <td className="small">{entry.user_id ?? t.nobody}</td>}
              <td className="nowrap">{entry.actor === 'user' && !hasUsers ? t.you : t.actors[entry.actor]}</td>
              <td className="small">
                {entry.client ?? t.hidden}
                {entry.user_agent && (
                  <div className="muted truncate half" title={entry.user_agent}>
                    {entry.user_agent}
                  </div>
                )}
              </td>
              <td className="muted small">{entry.subjects.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}

/** Operations that do the same, such as those of two interfaces, are one choice. */
function actionsByLabel(words: Record<string, string>): Map<string, string[]> {
  const named = Map.groupBy(Object.entries(words), ([, label]) => label)
  return new Map([...named].map(([label, entries]) => [label, entries.map(([action]) => action)]))
}

/** An action that has no words yet is shown by its name. */
function labelOf(action: string): string {
  const words: Record<string, string> = { ...t.actions, ...t.adminActions }
  return words[action] ?? action
}
