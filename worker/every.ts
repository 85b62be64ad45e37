/**
 * Repeats `work`, one at a time, with a pause in between; the returned function stops it and waits for what is
 * under way.
 */
export function every(
  pauseMs: number,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let wake = () => {}
  const finished = (async () => {
    while (!stopped) {
      await work().catch(onError)
      if (stopped) return
      await new Promise<void>((resolve) => {
        wake = resolve
        timer = setTimeout(resolve, pauseMs)
      })
    }
  })()
  return () => {
    stopped = true
    clearTimeout(timer)
    wake()
    return finished
  }
}
