import { FileText } from 'lucide-react'
import type { ReactNode } from 'react'
import { formatBytes } from '../../lib/format.ts'
import { texts } from '../../texts/index.ts'

const badges = { queued: '', processing: 'badge-accent', ready: 'badge-ok', failed: 'badge-danger' }

interface RowProps {
  name: string
  bytes?: number
  status: keyof typeof badges
  error?: string | null | undefined
  children?: ReactNode
}

/** A file with what has become of it. */
export function FileRow({ name, bytes, status, error, children }: RowProps) {
  return (
    <li className="file-row">
      <FileText size={18} aria-hidden="true" className="muted" />
      <div className="grow">
        <div className="truncate" title={name}>
          {name}
        </div>
        {bytes !== undefined && <div className="muted small">{formatBytes(bytes)}</div>}
        {error && <div className="field-error">{error}</div>}
      </div>
      <span className={`badge ${badges[status]}`}>{texts.knowledge.status[status]}</span>
      {children}
    </li>
  )
}
