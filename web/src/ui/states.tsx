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
  text: string
  /** Whether nothing else is on the page: then it has the page's heading. */
  isPage?: boolean
  children?: ReactNode
}

export function Empty({ icon, title, text, isPage = false, children }: EmptyProps) {
  const Heading = isPage ? 'h1' : 'h2'
  return (
    <div className="empty">
      {icon}
      <Heading>{title}</Heading>
      <p>{text}</p>
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
