import { ClientClosedError, createClient } from 'redis'
import { backOffMs } from '../../domain/back-off.ts'
import { type TlsSettings, tlsOptions } from '../tls.ts'
import type { RedisAddress, ServerAddress } from './address.ts'

export type RedisClient = ReturnType<typeof openClient>

export interface ConnectionOptions extends Pick<RedisAddress, 'isTls' | 'username' | 'password' | 'database'> {
  tls: TlsSettings
  /** A command fails if Redis does not answer within this time. */
  timeoutMs: number
  /** Called for each failure of a connection. */
  onError(error: unknown): void
}

/** A connection that only subscribes. It is not used any more once it is lost. */
export interface Subscriber {
  client: RedisClient
  node: RedisNode
  /** Aborted when the connection is lost. */
  lost: AbortSignal
}

export type RedisNode = ReturnType<typeof createNode>

const closeLimitMs = 1000

/**
 * One server, with a connection for commands, which reconnects by itself, and one that only subscribes, which is opened
 * when it is first needed, and anew after each loss.
 */
export function createNode(at: ServerAddress, options: ConnectionOptions) {
  const { timeoutMs, onError } = options
  const commands = openClient(at, options, (retries) => backOffMs(retries + 1, { firstMs: 50, longestMs: 500 }))
  commands.on('error', onError)
  const connected = commands.connect().then(
    () => undefined,
    () => undefined,
  )
  const stopWatching = watchConnection(commands, timeoutMs, () => {
    onError(new Error('Redis does not answer; the connection is closed and opened again'))
    commands.destroy()
    commands.connect().catch(onError)
  })
  let subscriber: Promise<Subscriber> | undefined
  let loseSubscriber = () => {}

  const node = {
    at,
    commands,
    /** Resolves when the connection for commands is open for the first time, or closed before. */
    connected,
    subscriber(): Promise<Subscriber> {
      return (subscriber ??= openSubscriber())
    },
    async close() {
      stopWatching()
      const closing = commands.isReady ? commands.close().catch(() => undefined) : undefined
      const limit = setTimeout(() => commands.destroy(), closeLimitMs)
      loseSubscriber()
      await closing
      clearTimeout(limit)
      commands.destroy()
    },
  }
  return node

  async function openSubscriber(): Promise<Subscriber> {
    const client = openClient(at, options, () => false)
    const lost = new AbortController()
    let stopWatchingIt = () => {}
    const lose = () => {
      if (lost.signal.aborted) return
      subscriber = undefined
      stopWatchingIt()
      clearTimeout(limit)
      client.destroy()
      lost.abort()
    }
    const limit = setTimeout(lose, timeoutMs)
    loseSubscriber = lose
    client.on('end', lose)
    // Whatever the failure, what the client knows of its subscriptions may be wrong: they begin anew on another.
    client.on('error', (error: Error) => {
      if (!lost.signal.aborted) onError(error)
      lose()
    })
    try {
      await client.connect()
      if (lost.signal.aborted) throw new ClientClosedError()
    } catch (error) {
      lose()
      throw error
    }
    clearTimeout(limit)
    stopWatchingIt = watchConnection(client, timeoutMs, lose)
    return { client, node, lost: lost.signal }
  }
}

/** A client without an error listener ends the process. */
export function openClient(
  { host, port }: ServerAddress,
  { isTls, tls, username, password, database, timeoutMs }: ConnectionOptions,
  reconnectStrategy: (retries: number) => number | false,
) {
  // It ends a connection that is taken and not greeted; those that work have heartbeats. Twice the time, because a pause
  // of the whole process counts, too.
  const socketTimeout = 2 * timeoutMs
  const plain = { host, port, connectTimeout: timeoutMs, socketTimeout, reconnectStrategy }
  const client = createClient({
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    database,
    socket: isTls ? { ...plain, tls: true as const, ...tlsOptions(tls) } : plain,
    disableOfflineQueue: true,
  })
  // One that is destroyed while it connects opens nevertheless.
  client.on('ready', () => {
    if (!client.isOpen) client.destroy()
  })
  return client
}

interface Watched {
  readonly isReady: boolean
  ping(): Promise<unknown>
}

/**
 * Sends a heartbeat repeatedly, and calls `onSilence` when it is not answered, so that commands can fail instead of
 * waiting. The client's own socket timeout does not do this, because each written command restarts it.
 */
function watchConnection(client: Watched, timeoutMs: number, onSilence: () => void): () => void {
  let isPinging = false
  const ask = () => {
    if (isPinging || !client.isReady) return
    isPinging = true
    const giveUp = () => {
      if (isPinging) onSilence()
    }
    // After a pause of the whole process an answer may be unread: it is read before `setImmediate` runs.
    const limit = setTimeout(() => setImmediate(giveUp), (timeoutMs * 3) / 8)
    client
      .ping()
      // The connection itself reports the failure.
      .catch(() => undefined)
      .finally(() => {
        isPinging = false
        clearTimeout(limit)
      })
  }
  const timer = setInterval(ask, timeoutMs / 8)
  timer.unref()
  return () => clearInterval(timer)
}
