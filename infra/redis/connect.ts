import { createClient } from 'redis'
import { type TlsSettings, tlsOptions } from '../tls.ts'

export type RedisConnection = Awaited<ReturnType<typeof connectRedis>>
export type RedisClient = RedisConnection['commands']

interface RedisOptions {
  /** For an address with `rediss://`. */
  tls?: TlsSettings | undefined
  /** A command fails if Redis does not answer within this time. */
  timeoutMs?: number
  /** Called for each failure of a connection; it reconnects by itself. */
  onError(error: Error): void
}

/** Two connections: one for commands, one that only subscribes. Both reconnect by themselves. */
export async function connectRedis(url: string, { tls = {}, timeoutMs = 4000, onError }: RedisOptions) {
  const reconnectStrategy = (retries: number) => Math.min(50 * 2 ** Math.min(retries, 6), 500)
  const plain = { connectTimeout: timeoutMs, reconnectStrategy }
  const socket = url.startsWith('rediss:') ? { ...plain, tls: true as const, ...tlsOptions(tls) } : plain
  const commands = createClient({ url, socket, disableOfflineQueue: true })
  const subscriber = createClient({ url, socket })
  const clients = [commands, subscriber]
  // A client without an error listener ends the process.
  for (const client of clients) client.on('error', onError)
  await Promise.all(clients.map((client) => client.connect()))
  const stopWatching = clients.map((client) => watchConnection(client, timeoutMs, onError))
  return {
    commands,
    subscriber,
    ping: async () => {
      await commands.ping()
    },
    close: async () => {
      for (const stop of stopWatching) stop()
      const closing = Promise.allSettled(clients.map((client) => client.close()))
      const limit = setTimeout(() => {
        for (const client of clients) if (client.isOpen) client.destroy()
      }, closeLimitMs)
      await closing
      clearTimeout(limit)
      for (const client of clients) if (client.isOpen) client.destroy()
    },
  }
}

const closeLimitMs = 1000

interface Watched {
  readonly isReady: boolean
  ping(): Promise<unknown>
  destroy(): void
  connect(): Promise<unknown>
}

/**
 * Sends a heartbeat repeatedly. If a connection does not answer, it is closed and opened again, so that its
 * commands fail instead of waiting. The client's own socket timeout does not do this, because each written command
 * restarts it.
 */
function watchConnection(client: Watched, timeoutMs: number, onError: (error: Error) => void): () => void {
  let isAsking = false
  const ask = () => {
    if (isAsking || !client.isReady) return
    isAsking = true
    const giveUp = () => {
      if (!isAsking) return
      onError(new Error('Redis does not answer; the connection is closed and opened again'))
      client.destroy()
      client.connect().catch(onError)
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
