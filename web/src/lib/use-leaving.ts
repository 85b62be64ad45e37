import { useEffect } from 'react'
import { useSame } from './use-same.ts'

/** Calls `leave` when the part of the page that uses it goes, also with the page itself, of which React hears nothing. */
export function useLeaving(leave: () => void): void {
  const same = useSame(leave)
  useEffect(() => {
    window.addEventListener('pagehide', same)
    return () => {
      window.removeEventListener('pagehide', same)
      same()
    }
  }, [same])
}
