import { createListeners } from './listeners.ts'

export interface Toast {
  id: number
  text: string
  tone: 'plain' | 'danger'
  action: Pick<ToastAction, 'label' | 'run'> | undefined
}

/** A button beside the text, for as long as it is shown. */
interface ToastAction {
  label: string
  run: () => void
  ms: number
}

const shownMs = 6000
const { notify, useRead } = createListeners()
let toasts: readonly Toast[] = []
let nextId = 1

/** Shows a message at the edge of the page for a few seconds. */
export function say(text: string, tone: Toast['tone'] = 'plain', action?: ToastAction): void {
  const id = nextId++
  const close = () => set(toasts.filter((toast) => toast.id !== id))
  const button = action && {
    label: action.label,
    run: () => {
      close()
      action.run()
    },
  }
  set([...toasts, { id, text, tone, action: button }])
  setTimeout(close, action?.ms ?? shownMs)
}

export function useToasts(): readonly Toast[] {
  return useRead(() => toasts)
}

function set(next: readonly Toast[]): void {
  toasts = next
  notify()
}
