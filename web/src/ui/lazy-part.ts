import { lazyRouteComponent } from '@tanstack/react-router'
import { lazy } from 'react'
import { loadAgain } from '../lib/load-again.ts'
import { say } from '../lib/toasts.ts'
import { texts } from '../texts/index.ts'

let isSaid = false

/** Waits for the network, and says so once. */
async function patiently<T>(load: () => Promise<T>): Promise<T> {
  let isAgain = false
  const withStyles = async () => {
    if (isAgain) loadStylesAgain()
    isAgain = true
    return load()
  }
  const loaded = await loadAgain(withStyles, () => {
    if (!isSaid) say(texts.offline, 'danger')
    isSaid = true
  })
  isSaid = false
  return loaded
}

/** React's `lazy` for a part whose file cannot be loaded at the moment: the rest of the page stays. */
export const lazyPart: typeof lazy = (load) => lazy(() => patiently(load))

/** The same for a page of the router. */
export const lazyPage: typeof lazyRouteComponent = (load, name) => lazyRouteComponent(() => patiently(load), name)

/** Vite asks for the styles of a module once only. Links that may still be loading stay: a module waits for them. */
function loadStylesAgain(): void {
  const links = [...document.head.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')]
  const there = new Set(links.filter(({ sheet }) => sheet !== null).map(({ href }) => href))
  for (const link of links) {
    if (there.has(link.href)) continue
    there.add(link.href)
    document.head.append(link.cloneNode())
  }
}
