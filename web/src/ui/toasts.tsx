import { useToasts } from '../lib/toasts.ts'

export function Toasts() {
  const toasts = useToasts()
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, tone }) => (
        <div key={id} className={tone === 'danger' ? 'toast toast-danger' : 'toast'}>
          {text}
        </div>
      ))}
    </div>
  )
}
