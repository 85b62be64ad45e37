import { useNavigate, useRouter, useRouterState } from '@tanstack/react-router'
import { useEffect, useLayoutEffect, useRef } from 'react'
import type { Source } from '../../lib/citations.ts'
import { useSame } from '../../lib/use-same.ts'
import type { OpenedDocument } from './documents/context.ts'

/** A source of an answer, or a document, beside the chat. */
interface Beside {
  /** The chat beside which it is shown: a page may have had another one before. */
  threadId: string
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
export function useBeside(threadId: string) {
  const navigate = useNavigate()
  const { history } = useRouter()
  const known = useRouterState({ select: ({ location }) => location.state.beside })
  const beside = known?.threadId === threadId ? known : undefined
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

  const show = (next: Omit<Beside, 'threadId'>) => {
    const state = (before: object) => ({ ...before, beside: { threadId, ...next } })
    // One takes the place of the other.
    void navigate({ to: '.', search: true, hash: true, state, replace: known !== undefined, resetScroll: false })
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
    source: beside?.source,
    document: beside?.document,
    openSource,
    openDocument,
    showSource: (shown: Source) => beside?.source && show({ source: { ...beside.source, shown } }),
    close,
  }
}
