import type { AnyRouter, HistoryState, RouterHistory } from '@tanstack/react-router'
import { useEffect } from 'react'
import { newId } from './new-id.ts'
import { useSame } from './use-same.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** What lies over the page at this step of the history, the uppermost last. */
    over?: string[]
  }
}

type Router = Pick<AnyRouter, 'navigate'> & { history: RouterHistory }

interface Layer {
  id: string
  onBack: () => void
}

/** Wide screens show the menu beside the page, and have no key for Back at hand. */
const phone = '(max-width: 800px)'
/** A way back that leads nowhere is not announced. */
const longestWayBackMs = 300

let router: Router | undefined
let layers: readonly Layer[] = []
let wayBack: Promise<unknown> | undefined

/**
 * On a phone, what lies over the page is a step of the history: Back closes it, as people expect there. `onBack` closes it,
 * or asks first; then the step is made again.
 */
export function useStep(isOpen: boolean, onBack: () => void): void {
  const same = useSame(onBack)
  useEffect(() => {
    if (!isOpen || !window.matchMedia(phone).matches) return
    const layer = { id: newId(), onBack: same }
    layers = [...layers, layer]
    settleSoon()
    return () => {
      layers = layers.filter((one) => one !== layer)
      known.delete(layer.id)
      settleSoon()
    }
  }, [isOpen, same])
}

/** Makes the steps in the history of this router; without one, Back leaves the page. */
export function keepSteps(given: Router): void {
  router = given
  const { history } = given
  const { push } = history
  history.subscribe(({ action: { type } }) => {
    if (type === 'PUSH' || type === 'REPLACE') return
    wayBack = undefined
    const over = stepsOf(given)
    for (const { id, onBack } of layers
      .toReversed()
      .filter((layer) => known.has(layer.id) && !over.includes(layer.id))) {
      known.delete(id)
      onBack()
    }
    settleSoon()
  })
  // Who goes on to another page comes back to this one, not to what lay over it.
  history.push = (path, state: HistoryState | undefined, options) => {
    if (wayBack !== undefined) return void wayBack.then(() => history.push(path, state, options))
    const over = stepsOf(given)
    if (over.length === 0 || (state?.over?.length ?? 0) > over.length) return push(path, state, options)
    if (state?.over === undefined && path === history.location.href) return goBack(given, over.length)
    const { over: _, ...others } = state ?? {}
    history.replace(path, others, options)
  }
  settleSoon()
}

const stepsOf = ({ history }: Router): string[] => history.location.state.over ?? []

/** The layers that have a step. */
const known = new Set<string>()
let isSettling = false

/** When all that opens or closes in the same moment has done so. */
function settleSoon(): void {
  if (isSettling) return
  isSettling = true
  setTimeout(() => {
    isSettling = false
    if (router !== undefined && wayBack === undefined) settle(router)
  })
}

/** Takes steps off the history whose layers are gone, also those of a page that was loaded anew, and makes those that lack. */
function settle(given: Router): void {
  const over = stepsOf(given)
  const wanted = layers.map(({ id }) => id)
  const same = wanted.findIndex((id, place) => over[place] !== id)
  const kept = same < 0 ? wanted.length : same
  if (over.length > kept) return goBack(given, over.length - kept)
  for (const place of wanted.slice(kept).keys()) {
    const next = wanted.slice(0, kept + place + 1)
    for (const id of next) known.add(id)
    const state = (before: object) => ({ ...before, over: next })
    void given.navigate({ to: '.', search: true, hash: true, state, resetScroll: false, ignoreBlocker: true })
    // Two in one moment would become one entry.
    given.history.flush()
  }
}

function goBack({ history }: Router, steps: number): void {
  const over = Promise.withResolvers<void>()
  const unsubscribe = history.subscribe(
    ({ action: { type } }) => type !== 'PUSH' && type !== 'REPLACE' && over.resolve(),
  )
  const timer = setTimeout(over.resolve, longestWayBackMs)
  wayBack = over.promise.finally(() => {
    unsubscribe()
    clearTimeout(timer)
    wayBack = undefined
    settleSoon()
  })
  history.go(-steps, { ignoreBlocker: true })
}
