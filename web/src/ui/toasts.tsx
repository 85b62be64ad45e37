import { useLayoutEffect, useRef } from 'react'
import { useToasts } from '../lib/toasts.ts'
import { Button } from './button.tsx'

export function Toasts() {
  const toasts = useToasts()
  const box = useRef<HTMLDivElement>(null)
  // Above a dialog that was opened meanwhile.
  useLayoutEffect(() => {
    box.current?.hidePopover()
    if (toasts.length > 0) box.current?.showPopover()
  }, [toasts])
  return (
    <div ref={box} popover="manual" className="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, tone, action }) => (
        <div key={id} className={tone === 'danger' ? 'toast toast-danger' : 'toast'}>
          {text}
          {action && (
            <Button size="small" onClick={action.run}>
              {action.label}
            </Button>
          )}
        </div>
      ))}
    </div>
  )
}
