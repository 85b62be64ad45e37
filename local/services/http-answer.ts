import { connect } from 'node:net'

/**
 * The body of an answer with status 200 of a local server; undefined for any other answer, and without one. In HTTP 1.0,
 * where the connection ends with the answer: loading `fetch` or `node:http` would delay the start.
 */
export async function httpAnswer(url: string, timeoutMs: number): Promise<string | undefined> {
  const { hostname, port, pathname } = new URL(url)
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const socket = connect({ port: Number(port), host: hostname, signal: AbortSignal.timeout(timeoutMs) })
  let answer = ''
  socket.setEncoding('utf8')
  socket.once('connect', () => socket.write(`GET ${pathname} HTTP/1.0\r\nHost: ${hostname}\r\n\r\n`))
  socket.on('data', (piece: string) => (answer += piece))
  socket.once('error', () => resolve(undefined))
  socket.once('close', () => resolve(bodyOf(answer)))
  return promise.finally(() => socket.destroy())
}

function bodyOf(answer: string): string | undefined {
  return /^HTTP\/1\.[01] 200 .*?\r\n\r\n(.*)$/s.exec(answer)?.[1]
}
