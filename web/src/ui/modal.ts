import { type KeyboardEvent, type RefObject, type SyntheticEvent, useLayoutEffect } from 'react'
import { composes } from '../lib/composes.ts'
import { useStep } from '../lib/steps.ts'

const firstField = ':is(input, select, textarea):not([hidden], [type="hidden"], :disabled)'

/** The first field, without a field the first button. */
export function focusFirstField(content: Element | null): void {
  const first = content?.querySelector<HTMLElement>(firstField) ?? content?.querySelector<HTMLElement>('button')
  first?.focus()
}

/**
 * Shows a dialog as long as it is rendered; when it goes, what had the focus before gets it back. On a phone, Back calls
 * `onBack`.
 */
export function useModal(ref: RefObject<HTMLDialogElement | null>, content: string, onBack: () => void): void {
  useStep(true, onBack)
  useLayoutEffect(() => {
    const dialog = ref.current
    if (!dialog) return
    const opener = openerOf(document.activeElement)
    dialog.showModal()
    focusFirstField(dialog.querySelector(content))
    return () => {
      dialog.close()
      opener?.focus()
    }
  }, [ref, content])
}

/** How a dialog is left: by Escape, and by a click beside it; Ctrl+Enter in a text sends its form. */
export function waysOut(onClose: () => void) {
  return {
    onCancel: (event: SyntheticEvent) => {
      event.preventDefault()
      if (event.target === event.currentTarget) onClose()
    },
    // The browser would close a dialog at the second time, whatever is said to `cancel`, and all that are open at once.
    onKeyDown: (event: KeyboardEvent) => {
      const isOwn = event.target instanceof Element && event.target.closest('dialog') === event.currentTarget
      if (
        event.key === 'Enter' &&
        (event.ctrlKey || event.metaKey) &&
        event.target instanceof HTMLTextAreaElement &&
        isOwn
      )
        return event.target.form?.requestSubmit()
      if (event.key !== 'Escape' || event.defaultPrevented || composes(event.nativeEvent) || !isOwn) return
      event.preventDefault()
      onClose()
    },
    onMouseDown: (event: SyntheticEvent) => {
      if (event.target === event.currentTarget) onClose()
    },
  }
}

/** An entry of a menu is gone when its dialog closes: the focus returns to the button of the menu. */
function openerOf(focused: Element | null): HTMLElement | undefined {
  const trigger = focused?.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  const opener = trigger ? document.querySelector(`#${CSS.escape(trigger)}`) : focused
  return opener instanceof HTMLElement ? opener : undefined
}
