import { once } from 'node:events'
import { type Socket, connect } from 'node:net'

/** A connection as a client has it that writes what it likes, when it likes. */
export async function openConnection(service: { url: string }) {
  const { hostname, port } = new URL(service.url)
  const socket: Socket = connect(Number(port), hostname)
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  // Not by events.once, which rejects at a reset: a server that ends a slow client may well reset the connection.
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, 'connect')
  return {
    socket,
    write: (text: string) => socket.write(text),
    /** Everything that was received, when the other side has closed the connection. */
    async untilClosed(): Promise<string> {
      await closed
      return received
    },
    received: () => received,
  }
}
