/**
 * Caches the result of a call for `keptMs`; concurrent callers share one call. A failure is not cached. For another
 * `staleMs` callers still get the result at once, while it is asked for anew.
 */
export function kept<T>(
  ask: () => Promise<T>,
  keptMs: number | ((answer: T) => number),
  staleMs = 0,
): () => Promise<T> {
  let latest: { answer: Promise<T>; until: number } | undefined
  let next: typeof latest

  function begin() {
    const asked = { answer: ask(), until: Infinity }
    asked.answer.then(
      (answer) => {
        asked.until = Date.now() + (typeof keptMs === 'number' ? keptMs : keptMs(answer))
        if (next === asked) [latest, next] = [asked, undefined]
      },
      () => {
        asked.until = -Infinity
        if (next === asked) next = undefined
      },
    )
    return asked
  }

  return () => {
    const now = Date.now()
    if (latest === undefined || latest.until + staleMs < now) latest = next ?? begin()
    else if (latest.until < now) next ??= begin()
    return latest.answer
  }
}
