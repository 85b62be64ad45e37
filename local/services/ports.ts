import { connect, createServer } from 'node:net'

/**
 * Whether this process could listen there now. It listens for a moment to find out, and could take the port from a
 * server that is starting: to wait for a server, ask `accepts`.
 */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  return promise
}

/** Ports that `freePort` has returned. Several are chosen before the first server listens. */
const chosen = new Set<number>()

/**
 * A free port below the range of outgoing connections, so that no connection of another program takes it before the
 * server starts.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (chosen.has(port)) continue
    chosen.add(port)
    if (await isPortFree(port)) return port
  }
  throw new Error('no free port between 20000 and 32000')
}

/** Whether something listens on a loopback port. */
export async function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ port, host: '127.0.0.1' })
  socket.once('connect', () => resolve(true))
  socket.once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

/** Sends `request` to a loopback port and returns the first bytes of the answer; undefined if nothing listens. */
export async function exchange(port: number, request: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const socket = connect({ port, host: '127.0.0.1', timeout: 1_000 })
  socket.once('connect', () => socket.write(request))
  socket.once('data', (data) => resolve(data.toString()))
  socket.once('error', () => resolve(undefined))
  socket.once('timeout', () => resolve(undefined))
  socket.once('close', () => resolve(undefined))
  return promise.finally(() => socket.destroy())
}
