import { useSyncExternalStore } from 'react'

/** For what is kept outside of React: whoever shows it by `useRead` reads it again after each `notify`. */
export function createListeners() {
  const listeners = new Set<() => void>()
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
  return {
    notify(): void {
      for (const listener of listeners) listener()
    },
    useRead: <T>(read: () => T): T => useSyncExternalStore(subscribe, read),
  }
}
