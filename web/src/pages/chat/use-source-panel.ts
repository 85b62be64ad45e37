import { useCallback, useRef, useState } from 'react'
import type { Source } from '../../lib/citations.ts'

/** The source that is shown beside the chat. Gives the focus back when it is closed. */
export function useSourcePanel() {
  const [shown, show] = useState<Source>()
  const [sources, setSources] = useState<Source[]>([])
  const opener = useRef<Element>(null)
  const open = useCallback((source: Source, all: Source[]) => {
    opener.current = document.activeElement
    setSources(all)
    show(source)
  }, [])
  const close = () => {
    show(undefined)
    if (opener.current instanceof HTMLElement) opener.current.focus()
  }
  return { shown, sources, open, show, close }
}
