/** Processor time of the work below on the machine for which the bounds of the tests were chosen, in milliseconds. */
const usualMs = 20

/**
 * How many times longer work takes here and now than on the machine for which bounds were chosen; at least 1. A processor
 * that is shared takes longer for the same work, by the clock and in processor time. Bounds on processor time are
 * multiplied by it, so that they are ratios of two measurements of one run.
 */
export function slowness(): number {
  const text = JSON.stringify(Array.from({ length: 150_000 }, (_, index) => ({ id: index, name: `name ${index}` })))
  const times = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage()
    JSON.parse(text)
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }).toSorted((a, b) => a - b)
  return Math.max(1, (times[1] ?? 0) / usualMs)
}

/**
 * Begins to measure this thread. What it returns says the processor time since then, as the usual machine would take
 * it, in milliseconds.
 */
export function watchProcessor(): () => number {
  const begun = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(begun)
    return (user + system) / 1000 / slowness()
  }
}
