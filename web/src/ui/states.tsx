import type { ReactNode } from 'react'
import { wordsOf } from '../lib/api.ts'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'

export function Skeleton({ lines = 3, height = 18 }: { lines?: number; height?: number }) {
  return (
    <div className="stack-small" role="status" aria-label={texts.loading}>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className="skeleton" style={{ height, width: `${100 - ((line * 17) % 40)}%` }} />
      ))}
    </div>
  )
}

interface EmptyProps {
  icon: ReactNode
  title: string
  text?: string
  /** Something to begin with: it is offered in words that a person would say. */
  example?: { text: string; onChoose: () => void }
  /** Whether nothing else is on the page: then it has the page's heading. */
  isPage?: boolean
  children?: ReactNode
}

/** In place of what is not there yet, a little above the middle of a page that has nothing else. */
export function Empty({ icon, title, text, example, isPage = false, children }: EmptyProps) {
  const Heading = isPage ? 'h1' : 'h2'
  return (
    <div className="empty">
      {icon}
      <Heading>{title}</Heading>
      {text !== undefined && <p>{text}</p>}
      {example && (
        <button type="button" className="example" onClick={example.onChoose}>
          {example.text}
        </button>
      )}
      {children}
    </div>
  )
}

export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <Notice tone="danger">
      <div className="stack-small">
        {wordsOf(error, texts.offline)}
        {onRetry && (
          <div>
            <Button size="small" onClick={onRetry}>
              {texts.tryAgain}
            </Button>
          </div>
        )}
      </div>
    </Notice>
  )
}

interface LoadingProps {
  query: { isPending: boolean; isError: boolean; error: unknown; refetch: () => unknown }
  /** Of the skeleton: how many, and how high each is. */
  lines?: number
  height?: number
}

/** In place of what a query has not brought yet: a skeleton, or why it failed, with a button to try again. */
export function Loading({ query, ...skeleton }: LoadingProps) {
  if (query.isPending) return <Skeleton {...skeleton} />
  return query.isError && <Problem error={query.error} onRetry={() => void query.refetch()} />
}

export function ProgressBar({ value, label }: { value: number; label: string }) {
  const percent = Math.round(value * 100)
  return (
    <div
      className="progress"
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <div style={{ width: `${percent}%` }} />
    </div>
  )
}
