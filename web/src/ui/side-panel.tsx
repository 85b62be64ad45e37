import '../styles/side-panel.css'
import { X } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { texts } from '../texts/index.ts'
import { IconButton } from './button.tsx'
import { useModal, waysOut } from './modal.ts'

interface PanelProps {
  label: string
  closeLabel?: string
  /** What stands in its head, before the button that closes it. */
  head: ReactNode
  onClose: () => void
  /** For what is read or written at length. */
  isWide?: boolean
  children: ReactNode
}

/** Beside the page, which can be used meanwhile; over it where there is little room; from below on a phone. */
export function SidePanel({ label, closeLabel = texts.close, head, onClose, isWide, children }: PanelProps) {
  const panel = useRef<HTMLElement>(null)
  useEffect(() => panel.current?.focus(), [])
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // A dialog that is open takes the key for itself.
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('dialog[open]')) onClose()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [onClose])
  return (
    <>
      <button type="button" className="side-scrim" aria-label={closeLabel} tabIndex={-1} onClick={onClose} />
      <aside
        ref={panel}
        className={isWide ? 'side-panel side-panel-wide' : 'side-panel'}
        aria-label={label}
        tabIndex={-1}
      >
        <PanelHead head={head} closeLabel={closeLabel} onClose={onClose} />
        {children}
      </aside>
    </>
  )
}

/**
 * The same over the page, which waits for it. Its first field has the focus; when it goes, what had the focus before
 * gets it back.
 */
export function ModalPanel({ label, closeLabel = texts.close, head, onClose, children }: PanelProps) {
  const panel = useRef<HTMLDialogElement>(null)
  useModal(panel, '.side-body', onClose)
  return (
    <dialog ref={panel} className="side-panel side-panel-modal" aria-label={label} {...waysOut(onClose)}>
      <PanelHead head={head} closeLabel={closeLabel} onClose={onClose} />
      {children}
    </dialog>
  )
}

function PanelHead({ head, closeLabel, onClose }: { head: ReactNode; closeLabel: string; onClose: () => void }) {
  return (
    <header className="side-head">
      {head}
      <IconButton label={closeLabel} icon={<X size={18} />} onClick={onClose} />
    </header>
  )
}
