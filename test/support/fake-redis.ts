import { type Socket, createServer } from 'node:net'
import { listenOnLoopback } from './http-server.ts'

/** What a server sends: an array, a number, a text, or an error. */
type Reply = Reply[] | number | string | Error

/**
 * A server that speaks as Redis does, and gives each command the reply of a test; without one, it is silent.
 * `connection` counts the connections from 1.
 */
export async function startFakeRedis(replyTo: (words: string[], connection: number) => Reply | undefined = () => 'OK') {
  const open = new Set<Socket>()
  let accepted = 0
  const server = createServer((socket) => {
    const connection = ++accepted
    open.add(socket)
    socket.on('error', () => undefined).on('close', () => open.delete(socket))
    const lines = ['']
    socket.setEncoding('utf8').on('data', (text) => {
      const [end = '', ...more] = String(text).split('\r\n')
      lines.push((lines.pop() ?? '') + end, ...more)
      for (let words = takeCommand(lines); words !== undefined; words = takeCommand(lines)) {
        const reply = replyTo(words, connection)
        if (reply !== undefined) socket.write(encoded(reply))
      }
    })
  })
  const port = await listenOnLoopback(server)
  return {
    at: { host: '127.0.0.1', port },
    address: `127.0.0.1:${port}`,
    get accepted() {
      return accepted
    },
    get openCount() {
      return open.size
    },
    async close(): Promise<void> {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      for (const socket of open) socket.destroy()
      await closed.promise
    },
  }
}

/** The words of the first command: a line says how many there are, and two lines follow for each. */
function takeCommand(lines: string[]): string[] | undefined {
  const length = 1 + 2 * Number(lines[0]?.slice(1))
  // The last line is not complete.
  if (lines.length <= length) return undefined
  return lines.splice(0, length).filter((_line, index) => index > 0 && index % 2 === 0)
}

/** https://redis.io/docs/latest/develop/reference/protocol-spec/ */
function encoded(reply: Reply): string {
  if (reply instanceof Error) return `-${reply.message}\r\n`
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (typeof reply === 'string') return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`
  return `*${reply.length}\r\n${reply.map(encoded).join('')}`
}
