import { useSyncExternalStore } from 'react'
import type { News } from './schedule-outcomes.ts'
import { getSession } from './session.ts'

const most = 20
const none: News[] = []
const listeners = new Set<() => void>()
let read: { text: string | null; news: News[] } = { text: null, news: none }

export function newsNow(): News[] {
  const text = localStorage.getItem(keyOf('news'))
  if (text !== read.text) read = { text, news: parsed<News[]>(text) ?? none }
  return read.news
}

export const useNews = (): News[] =>
  useSyncExternalStore((listener) => {
    listeners.add(listener)
    window.addEventListener('storage', listener)
    return () => {
      listeners.delete(listener)
      window.removeEventListener('storage', listener)
    }
  }, newsNow)

export function setNews(news: News[]): void {
  localStorage.setItem(keyOf('news'), JSON.stringify(news.slice(0, most)))
  for (const listener of listeners) listener()
}

/** How many runs each schedule had made when it was looked at last; undefined before the first time. */
export const runsSeen = () => parsed<Record<string, number>>(localStorage.getItem(keyOf('runs-seen')))

export const keepRunsSeen = (runs: Record<string, number>): void =>
  localStorage.setItem(keyOf('runs-seen'), JSON.stringify(runs))

/** For each user, in each project, in this browser. */
const keyOf = (what: string) => `assistant-platform.${what}.${getSession()?.userId}.${getSession()?.projectId}`

function parsed<Kept>(text: string | null): Kept | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by this file
    return text === null ? undefined : (JSON.parse(text) as Kept)
  } catch {
    return undefined
  }
}
