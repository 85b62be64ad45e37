import { createClient } from 'redis'

export type RedisConnection = Awaited<ReturnType<typeof connectRedis>>
export type RedisClient = RedisConnection['commands']

/**
 * Two connections: one for commands, with a time limit (a command sent to a dead peer would hang for
 * ever), one that only subscribes and therefore waits. Both reconnect by themselves; `onError` hears
 * of each failure, because a client without an error listener ends the process.
 */
export async function connectRedis(url: string, onError: (error: Error) => void) {
  const reconnectStrategy = (retries: number) => Math.min(50 * 2 ** Math.min(retries, 6), 1000)
  const commands = createClient({
    url,
    socket: { connectTimeout: 5000, socketTimeout: 10_000, reconnectStrategy },
    disableOfflineQueue: true,
    pingInterval: 4000,
  })
  const subscriber = createClient({ url, socket: { connectTimeout: 5000, reconnectStrategy } })
  commands.on('error', onError)
  subscriber.on('error', onError)
  await Promise.all([commands.connect(), subscriber.connect()])
  return {
    commands,
    subscriber,
    ping: async () => {
      await commands.ping()
    },
    close: async () => {
      await Promise.allSettled([commands.close(), subscriber.close()])
      if (commands.isOpen) commands.destroy()
      if (subscriber.isOpen) subscriber.destroy()
    },
  }
}
