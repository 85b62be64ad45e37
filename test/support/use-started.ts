import { afterAll, beforeAll } from 'vitest'

/**
 * What `start` returns, for all tests of the file or the `describe` that calls this: it starts before the first of them
 * and closes after the last. What is returned is empty until then.
 */
export function useStarted<T extends { close(): Promise<void> }>(start: () => Promise<T>): T {
  const shared = {} as T
  let started: T | undefined
  beforeAll(async () => {
    started = await start()
    Object.assign(shared, started)
  })
  afterAll(() => started?.close())
  return shared
}
