import { afterEach, beforeEach, vi } from 'vitest'

/** Timers that only the test advances, for all tests of the file or the `describe` that calls this. */
export function useFakeTimers(): void {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })
}
