interface Watched {
  readonly isReady: boolean
  ping(): Promise<unknown>
}

/**
 * Sends a heartbeat repeatedly, and calls `onSilence` when it is not answered, so that commands can fail instead of
 * waiting. The client's own socket timeout does not do this, because each written command restarts it.
 */
export function watchConnection(client: Watched, timeoutMs: number, onSilence: () => void): () => void {
  let isAsking = false
  const ask = () => {
    if (isAsking || !client.isReady) return
    isAsking = true
    const giveUp = () => {
      if (isAsking) onSilence()
    }
    // After a pause of the whole process an answer may be unread: it is read before `setImmediate` runs.
    const limit = setTimeout(() => setImmediate(giveUp), (timeoutMs * 3) / 8)
    client
      .ping()
      // The connection itself reports the failure.
      .catch(() => undefined)
      .finally(() => {
        isAsking = false
        clearTimeout(limit)
      })
  }
  const timer = setInterval(ask, timeoutMs / 8)
  timer.unref()
  return () => clearInterval(timer)
}
