interface LeasedSweep<T> {
  /** Takes the lease of a record that is due, so that no other process works on it at the same time. Null: none is due. */
  due(now: number): Promise<T | null>
  work(due: T, now: number): Promise<unknown>
  onError(error: unknown): void
  perRound: number
  clock?: () => number
}

/** So many failures in a row are caused by a dependency, not by a record. */
const maxFailures = 3

/**
 * One round of the work on records that are due, one after the other; returns how many it took. A record whose work fails,
 * or whose process dies, is due again when its lease ends.
 */
export async function leasedSweep<T>({ due, work, onError, perRound, clock = Date.now }: LeasedSweep<T>) {
  let failures = 0
  let count = 0
  while (count < perRound && failures < maxFailures) {
    const now = clock()
    const taken = await due(now)
    if (taken === null) break
    count += 1
    try {
      await work(taken, now)
      failures = 0
    } catch (error) {
      onError(error)
      failures += 1
    }
  }
  return count
}
