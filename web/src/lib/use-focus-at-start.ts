import { type RefObject, useLayoutEffect } from 'react'

/**
 * Gives a field the focus when it is shown first, unless somebody is writing in another one: a page that comes late
 * must not take away what is being typed.
 */
export function useFocusAtStart(field: RefObject<HTMLElement | null>, isWanted: boolean): void {
  useLayoutEffect(() => {
    if (isWanted && !document.activeElement?.matches('input, textarea, select')) field.current?.focus()
  }, [field, isWanted])
}
