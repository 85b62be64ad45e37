import { X } from 'lucide-react'
// Before a change: docs/traps.md, Libraries.
import { type ReactNode, useId, useRef, useState } from 'react'
import { wordsOf } from '../lib/api.ts'
import type { useSubmit } from '../lib/use-submit.ts'
import { texts } from '../texts/index.ts'
import { Button, IconButton } from './button.tsx'
import { useModal, waysOut } from './modal.ts'
import { Notice } from './notice.tsx'

interface DialogProps {
  title: string
  onClose: () => void
  wide?: boolean
  /** What is lost when it is left now: asked before Escape, the cross or a click beside it closes it. */
  unsaved?: string | false
  children: ReactNode
}

/**
 * The browser's own modal dialog, shown as long as it is rendered. Its first field has the focus, without a field the
 * first button of its content; when it goes, what had the focus before gets it back.
 */
export function Dialog({ title, onClose, wide, unsaved, children }: DialogProps) {
  const [isLeaving, setLeaving] = useState(false)
  const close = unsaved ? () => setLeaving(true) : onClose
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useModal(ref, '.dialog-body', close)
  return (
    <dialog ref={ref} className={wide ? 'dialog dialog-wide' : 'dialog'} aria-labelledby={titleId} {...waysOut(close)}>
      <div className="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <IconButton label={texts.close} icon={<X size={18} />} onClick={close} />
      </div>
      <div className="dialog-body">{children}</div>
      {unsaved && isLeaving && (
        <ConfirmDialog
          title={texts.discardTitle}
          text={unsaved}
          action={texts.discard}
          onConfirm={async () => onClose()}
          onClose={() => setLeaving(false)}
        />
      )}
    </dialog>
  )
}

interface DialogFootProps {
  /** What the button says that submits the form. */
  action: string
  danger?: boolean
  busy?: boolean
  disabled?: boolean
  onClose: () => void
}

/** The two ways out of a dialog with a form. */
export function DialogFoot({ action, danger = false, onClose, ...state }: DialogFootProps) {
  return (
    <div className="row row-end">
      <Button onClick={onClose}>{texts.cancel}</Button>
      <Button type="submit" look={danger ? 'danger' : 'primary'} {...state}>
        {action}
      </Button>
    </div>
  )
}

interface FormDialogProps extends Omit<DialogFootProps, 'busy'>, DialogProps {
  form: Pick<ReturnType<typeof useSubmit>, 'isBusy' | 'problem' | 'onSubmit'>
}

/** A dialog that is a form. Why it failed stands above the buttons, which have just been pressed. */
export function FormDialog({ title, wide = false, unsaved = false, form, children, ...foot }: FormDialogProps) {
  return (
    <Dialog title={title} wide={wide} unsaved={unsaved} onClose={foot.onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        {children}
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <DialogFoot {...foot} busy={form.isBusy} />
      </form>
    </Dialog>
  )
}

interface ConfirmProps<Result> {
  title: string
  text: ReactNode
  action: string
  danger?: boolean
  onConfirm: () => Promise<Result>
  onClose: () => void
  /** Called when the dialog is closed: what is said then can be read while the page can be used. */
  onDone?: (result: Result) => void
}

/** Asks for confirmation before something that cannot be undone. Stays open and shows the error if it fails. */
export function ConfirmDialog<Result>(props: ConfirmProps<Result>) {
  const { title, text, action, danger = true, onConfirm, onClose, onDone } = props
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const confirm = async () => {
    setBusy(true)
    try {
      const result = await onConfirm()
      onClose()
      onDone?.(result)
    } catch (error) {
      setProblem(wordsOf(error, texts.offline))
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="muted">{text}</div>
      {problem && <Notice tone="danger">{problem}</Notice>}
      <div className="row row-end">
        <Button onClick={onClose}>{texts.cancel}</Button>
        <Button look={danger ? 'danger' : 'primary'} busy={isBusy} onClick={() => void confirm()}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
