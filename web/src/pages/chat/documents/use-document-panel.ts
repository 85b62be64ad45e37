import { useRef, useState } from 'react'
import { useSame } from '../../../lib/use-same.ts'
import type { OpenedDocument } from './context.ts'

/** The document that is shown beside the chat. Gives the focus back when it is closed. */
export function useDocumentPanel(onOpen: () => void) {
  const [shown, show] = useState<OpenedDocument>()
  const opener = useRef<Element>(null)
  /** Keeps what was written by hand, and gives the note for a question; undefined if that failed. */
  const noting = useRef<() => Promise<string | undefined>>(undefined)
  const setNoting = useSame((next: typeof noting.current) => {
    noting.current = next
  })
  const open = useSame((opened: OpenedDocument) => {
    opener.current = document.activeElement
    onOpen()
    show(opened)
  })
  const close = useSame(() => {
    show(undefined)
    if (opener.current instanceof HTMLElement) opener.current.focus()
  })
  return { shown, open, close, setNoting, note: async () => (noting.current === undefined ? '' : noting.current()) }
}
