/**
 * Measures how long the event loop of this thread stands: the processor time between two runs of a timer, which comes
 * whenever the loop goes round. Other processes cost none of it. What the test itself does counts, so its requests come
 * from another thread.
 */
export function watchLoop() {
  let last = process.threadCpuUsage()
  let longest = 0
  const note = () => {
    const { user, system } = process.threadCpuUsage(last)
    longest = Math.max(longest, (user + system) / 1000)
    last = process.threadCpuUsage()
  }
  const timer = setInterval(note, 2)
  timer.unref()
  return {
    /** Milliseconds since the last call. */
    take(): number {
      note()
      const taken = longest
      longest = 0
      return taken
    },
    stop: () => clearInterval(timer),
  }
}
