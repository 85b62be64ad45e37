import { useCallback, useLayoutEffect, useRef } from 'react'

/** The same function in every render, which does what the newest one does: for parts that are drawn anew only when needed. */
export function useSame<Given extends unknown[]>(action: (...given: Given) => void): (...given: Given) => void {
  const newest = useRef(action)
  useLayoutEffect(() => {
    newest.current = action
  })
  return useCallback((...given: Given) => newest.current(...given), [])
}
