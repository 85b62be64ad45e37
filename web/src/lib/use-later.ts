import { useEffect, useState } from 'react'

/** Whether the page has been there for a while: what can wait until then is loaded. */
export function useLater(afterMs: number): boolean {
  const [isLater, setLater] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLater(true), afterMs)
    return () => clearTimeout(timer)
  }, [afterMs])
  return isLater
}
