import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const storageKey = 'assistant-platform.theme'
const prefersDark = window.matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

export function applyTheme(): void {
  const chosen = readTheme()
  const isDark = chosen === 'dark' || (chosen === 'system' && prefersDark.matches)
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(storageKey, theme)
  applyTheme()
  for (const listener of listeners) listener()
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, readTheme)
}

function readTheme(): Theme {
  const stored = localStorage.getItem(storageKey)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

prefersDark.addEventListener('change', applyTheme)
