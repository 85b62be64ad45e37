import { useNavigate, useRouter, useRouterState } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useRef } from 'react'
import type { Source } from '../../lib/citations.ts'
import { useSame } from '../../lib/use-same.ts'
import type { OpenedDocument } from './documents/context.ts'

/** A source of an answer, or a document, beside the chat. */
interface Beside {
  /** With all sources of the answer. */
  source?: { shown: Source; sources: Source[] }
  document?: OpenedDocument
}

declare module '@tanstack/react-router' {
  interface HistoryState {
    beside?: Beside
  }
}

/**
 * What is shown beside the chat is a step of the history: Back closes it, Forward and a reload show it again. Gives the
 * focus back when it is closed.
 */
export function useBeside() {
  const navigate = useNavigate()
  const { history } = useRouter()
  const beside = useRouterState({ select: ({ location }) => location.state.beside })
  const opener = useRef<Element>(null)
  const isClosing = useRef(false)
  const isOpen = beside !== undefined
  useEffect(() => {
    isClosing.current = false
  }, [beside])
  useLayoutEffect(() => {
    if (isOpen) return
    if (opener.current instanceof HTMLElement) opener.current.focus()
    opener.current = null
  }, [isOpen])

  const show = (next: Beside) => {
    const state = (before: object) => ({ ...before, beside: next })
    // One takes the place of the other.
    void navigate({ to: '.', search: true, hash: true, state, replace: isOpen, resetScroll: false })
  }
  const openSource = useSame((shown: Source, sources: Source[]) => {
    opener.current = document.activeElement
    show({ source: { shown, sources } })
  })
  const openDocument = useSame((opened: OpenedDocument) => {
    opener.current = document.activeElement
    show({ document: opened })
  })
  const close = useSame(() => {
    // Escape may be pressed twice before the page has gone back.
    if (!isOpen || isClosing.current) return
    isClosing.current = true
    history.back()
  })
  return {
    ...beside,
    openSource,
    openDocument,
    showSource: (shown: Source) => beside?.source && show({ source: { ...beside.source, shown } }),
    close,
  }
}
