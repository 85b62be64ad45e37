import { createHash } from 'node:crypto'

export type Random = ReturnType<typeof createRandom>

/** Random numbers from a seed: the same seed gives the same faults and the same load in the same order. */
export function createRandom(seed: string) {
  let count = 0
  /** From 0 to below 1. */
  const next = () => createHash('sha256').update(`${seed}/${count++}`).digest().readUInt32BE(0) / 2 ** 32
  /** A whole number from `low` to `high`, both included. */
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  function pick<T>(values: readonly T[]): T {
    const value = values[between(0, values.length - 1)]
    if (value === undefined) throw new Error('nothing to pick from')
    return value
  }
  return {
    between,
    pick,
    /** The same values in another order. */
    shuffled<T>(values: readonly T[]): T[] {
      return values
        .map((value) => ({ value, place: next() }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ value }) => value)
    },
    /** An independent sequence. */
    child: (name: string) => createRandom(`${seed}/${name}`),
  }
}
