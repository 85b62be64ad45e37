import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

const icons = { plain: Info, danger: CircleAlert, ok: CircleCheck, warn: TriangleAlert }

export function Notice({ tone = 'plain', children }: { tone?: keyof typeof icons; children: ReactNode }) {
  const Icon = icons[tone]
  return (
    <div className={`notice ${tone === 'plain' ? '' : `notice-${tone}`}`} role={tone === 'danger' ? 'alert' : 'status'}>
      <Icon size={17} aria-hidden="true" />
      <div>{children}</div>
    </div>
  )
}
