import { once } from 'node:events'
import { connect } from 'node:net'
import { type TLSSocket, createServer } from 'node:tls'
import type { Certificate } from './certificates.ts'

/** TLS in front of a server that speaks none. With `clientCa` only clients with a certificate of that authority get in. */
export async function startTlsProxy(target: string, server: Certificate, clientCa?: string) {
  const [host = '', port = ''] = target.split(':')
  const clients = new Set<TLSSocket>()
  const proxy = createServer(
    { ...server, ALPNProtocols: ['h2'], ...(clientCa ? { ca: clientCa, requestCert: true } : {}) },
    (client) => {
      const upstream = connect({ host, port: Number(port) })
      clients.add(client)
      for (const socket of [client, upstream])
        socket.on('error', () => socket.destroy()).on('close', () => [client, upstream].forEach((one) => one.destroy()))
      client.once('close', () => clients.delete(client))
      client.pipe(upstream).pipe(client)
    },
  )
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = proxy.address()
  return {
    address: `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    close: async () => {
      const closed = once(proxy, 'close')
      proxy.close()
      for (const client of clients) client.destroy()
      await closed
    },
  }
}
