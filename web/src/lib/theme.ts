import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const storageKey = 'assistant-platform.theme'
const prefersDark = window.matchMedia('(prefers-color-scheme: dark)')
const listeners = new Set<() => void>()

export function applyTheme(): void {
  const chosen = readTheme()
  const isDark = chosen === 'dark' || (chosen === 'system' && prefersDark.matches)
  const root = document.documentElement
  root.dataset['theme'] = isDark ? 'dark' : 'light'
  // The bars of a phone around the page.
  const color = getComputedStyle(root).getPropertyValue('--bg')
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', color)
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
