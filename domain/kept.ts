/** Caches the result of a call for `keptMs`; concurrent callers share one call. A failure is not cached. */
export function kept<T>(ask: () => Promise<T>, keptMs: number | ((answer: T) => number)): () => Promise<T> {
  let latest: { answer: Promise<T>; until: number } | undefined
  return () => {
    if (latest === undefined || latest.until < Date.now()) {
      const asked = { answer: ask(), until: Infinity }
      latest = asked
      asked.answer.then(
        (answer) => (asked.until = Date.now() + (typeof keptMs === 'number' ? keptMs : keptMs(answer))),
        () => (asked.until = 0),
      )
    }
    return latest.answer
  }
}
