import type { ReactNode } from 'react'

/** Scrolls what is wider than the page sideways; it can be reached by keyboard. */
export function ScrollRegion({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="scroll-x" role="region" tabIndex={0} aria-label={label}>
      {children}
    </div>
  )
}
