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
  changed()
}

export function onTheme(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function readTheme(): Theme {
  const stored = localStorage.getItem(storageKey)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

function changed(): void {
  applyTheme()
  for (const listener of listeners) listener()
}

prefersDark.addEventListener('change', applyTheme)
// It was chosen in another tab.
window.addEventListener('storage', ({ key }) => key === storageKey && changed())
