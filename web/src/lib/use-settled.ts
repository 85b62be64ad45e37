import { useEffect, useState } from 'react'

/** The value once it has not changed for a while: what is asked for each letter would be asked too often. */
export function useSettled<T>(value: T, pauseMs = 400): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), pauseMs)
    return () => clearTimeout(timer)
  }, [value, pauseMs])
  return settled
}
