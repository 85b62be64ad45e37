import { type Socket, connect, createServer } from 'node:net'
import { listenOnLoopback } from './http-server.ts'

/** A server between clients and `target` (host:port) whose connections a test can cut, slow down or stop. */
export async function startTcpProxy(target: string) {
  const [host = '', port = ''] = target.split(':')
  const pairs = new Set<[Socket, Socket]>()
  let isSwallowing = false
  let isRefusing = false
  let delayMs = 0

  const server = createServer((client) => {
    if (isRefusing) {
      client.destroy()
      return
    }
    const upstream = connect({ host, port: Number(port) })
    const pair: [Socket, Socket] = [client, upstream]
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      for (const socket of pair) held.delete(socket)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of pair) socket.on('error', end).on('close', end).setNoDelay(true)
    pass(client, upstream)
    pass(upstream, client)
    if (isSwallowing) stop(pair)
  })
  /** Sockets from which nothing is read on purpose. */
  const held = new Set<Socket>()
  const hold = (socket: Socket) => {
    held.add(socket)
    socket.pause()
  }
  const stop = (pair: [Socket, Socket]) => pair.forEach(hold)
  const cut = () => {
    for (const [client] of pairs) client.destroy()
  }
  /** Bytes leave in the order in which they came, also when the delay changes meanwhile. */
  const pass = (from: Socket, to: Socket) => {
    const waiting: { bytes: Buffer; dueAt: number }[] = []
    const send = () => {
      for (let next = waiting[0]; next !== undefined && next.dueAt <= Date.now(); next = waiting[0]) {
        if (!to.destroyed) to.write(next.bytes)
        waiting.shift()
      }
      const [next] = waiting
      if (next !== undefined) setTimeout(send, next.dueAt - Date.now())
    }
    from.on('data', (bytes) => {
      if (delayMs === 0 && waiting.length === 0) {
        if (to.write(bytes)) return
        from.pause()
        to.once('drain', () => held.has(from) || from.resume())
        return
      }
      waiting.push({ bytes, dueAt: Date.now() + delayMs })
      if (waiting.length === 1) setTimeout(send, delayMs)
    })
  }
  const listeningPort = await listenOnLoopback(server)

  return {
    address: `127.0.0.1:${listeningPort}`,
    /** Nothing comes through any more, in either direction; connections stay open, and new ones are taken. */
    swallow() {
      isSwallowing = true
      for (const pair of pairs) stop(pair)
    },
    /** What the clients send arrives, and no answer comes back. Only for connections that are open. */
    loseAnswers() {
      for (const [, upstream] of pairs) hold(upstream)
    },
    /** Every connection is cut, and new ones are cut at once. */
    refuse() {
      isRefusing = true
      cut()
    },
    /** Every connection is cut once; new ones work. */
    cut,
    /** From now on bytes take this much longer, in each direction. */
    slow(milliseconds: number) {
      delayMs = milliseconds
    },
    /** As at the start. What was swallowed arrives late, as in a network that is back. */
    restore() {
      isSwallowing = false
      isRefusing = false
      delayMs = 0
      held.clear()
      for (const pair of pairs) for (const socket of pair) socket.resume()
    },
    async close() {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      for (const [client, upstream] of pairs) {
        client.destroy()
        upstream.destroy()
      }
      await closed.promise
    },
  }
}

export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>

/** A proxy in front of a dependency; `throughProxy` is the dependency's address (a URL, or host:port) by way of it. */
export async function startProxyOf(address: string) {
  const isUrl = address.includes('://')
  const target = isUrl ? new URL(address).host : address
  const proxy = await startTcpProxy(target)
  if (!isUrl) return { ...proxy, throughProxy: proxy.address }
  const url = new URL(address.replace(target, proxy.address))
  // Not by the name that the server gives itself.
  if (url.protocol === 'mongodb:') url.searchParams.set('directConnection', 'true')
  return { ...proxy, throughProxy: url.toString() }
}
