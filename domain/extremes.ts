/** `Math.max` of numbers that may be many: a call with some hundred thousand arguments overflows the stack. */
export function largestOf(numbers: readonly number[], least = -Infinity): number {
  return numbers.reduce((largest, number) => Math.max(largest, number), least)
}

/** As `largestOf`, for `Math.min`. */
export function smallestOf(numbers: readonly number[]): number {
  return numbers.reduce((smallest, number) => Math.min(smallest, number), Infinity)
}
