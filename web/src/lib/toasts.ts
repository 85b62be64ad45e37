import { useSyncExternalStore } from 'react'

export interface Toast {
  id: number
  text: string
  tone: 'plain' | 'danger'
}

const shownMs = 6000
const listeners = new Set<() => void>()
let toasts: readonly Toast[] = []
let nextId = 1

/** Shows a message at the edge of the page for a few seconds. */
export function say(text: string, tone: Toast['tone'] = 'plain'): void {
  const toast = { id: nextId++, text, tone }
  set([...toasts, toast])
  setTimeout(() => set(toasts.filter(({ id }) => id !== toast.id)), shownMs)
}

export function useToasts(): readonly Toast[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
}

function set(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}
