// Before a change: docs/traps.md, Temporal.
/**
 * Runs one piece of work at a time for each key, in the order of the calls; work of different keys runs
 * concurrently. It holds within this process only: use it to protect a store or a workflow from a burst, never for
 * correctness.
 */
export function createInTurn() {
  const last = new Map<string, Promise<unknown>>()

  return async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = last.get(key)
    const turn = before === undefined ? work() : before.then(work, work)
    last.set(key, turn)
    try {
      return await turn
    } finally {
      if (last.get(key) === turn) last.delete(key)
    }
  }
}
