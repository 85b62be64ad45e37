import { useToasts } from '../lib/toasts.ts'
import { Button } from './button.tsx'

export function Toasts() {
  const toasts = useToasts()
  return (
    <div className="toasts" role="status" aria-live="polite">
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
