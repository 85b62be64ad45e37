import { useEffect, useState } from 'react'

/** Whether the page has been there for a while, or somebody has come back to it: what can wait until then is loaded. */
export function useLater(afterMs: number): boolean {
  const [isLater, setLater] = useState(false)
  useEffect(() => {
    let wasLeft = false
    const timer = setTimeout(() => setLater(true), afterMs)
    // The first focus of a page is no return to it.
    const look = ({ type }: Event) => {
      const isAway = type === 'blur' || document.visibilityState === 'hidden'
      if (!isAway && wasLeft) setLater(true)
      wasLeft ||= isAway
    }
    const signs = [
      [window, 'blur'],
      [window, 'focus'],
      [document, 'visibilitychange'],
    ] as const
    for (const [target, sign] of signs) target.addEventListener(sign, look)
    return () => {
      clearTimeout(timer)
      for (const [target, sign] of signs) target.removeEventListener(sign, look)
    }
  }, [afterMs])
  return isLater
}
