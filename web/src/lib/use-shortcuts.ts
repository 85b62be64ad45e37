import { useEffect } from 'react'

export interface Shortcuts {
  palette: () => void
  newChat: () => void
  help: () => void
}

/** Keys that work on every page. Those without Ctrl only where nothing is being written, and not over a dialog. */
export function useShortcuts({ palette, newChat, help }: Shortcuts): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const key = event.key.toLowerCase()
      const action = event.ctrlKey || event.metaKey ? withControl(key, event.shiftKey) : plain(key, event)
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    const withControl = (key: string, isShifted: boolean) =>
      key === 'k' && !isShifted ? palette : key === 'o' && isShifted ? newChat : undefined
    const plain = (key: string, { altKey, target }: KeyboardEvent) => {
      if (altKey || (target instanceof Element && target.closest('input, textarea, select, [contenteditable], dialog')))
        return undefined
      if (key === '?') return help
      return key === '/' ? () => document.querySelector<HTMLElement>('.composer textarea')?.focus() : undefined
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [palette, newChat, help])
}
