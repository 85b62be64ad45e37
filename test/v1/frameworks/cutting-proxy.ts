import { request as httpRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { startHttpServer } from '../../support/http-server.ts'

/** Bytes of an answer that arrive before it is cut in its middle. */
const bytesBeforeCut = 200

/**
 * Stands between a client and a service. A request whose body says `cut before` or `cut in the middle` loses its
 * connection once: before the answer, or in it. Its repetition passes.
 */
export async function startCuttingProxy(target: string) {
  const cut: string[] = []
  const server = await startHttpServer(async (request, response) => {
    const body = await buffer(request)
    const words = /cut (?:before|in the middle)( \w+)?/.exec(body.toString('utf8'))?.[0]
    const isFirst = words !== undefined && !cut.includes(words)
    if (isFirst) cut.push(words)
    if (isFirst && words.startsWith('cut before')) {
      request.socket.destroy()
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const { host: _, ...headers } = request.headers
    const upstream = httpRequest(new URL(request.url ?? '/', target), { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      let passed = 0
      answer.on('data', (piece: Buffer) => {
        response.write(piece)
        passed += piece.length
        if (isFirst && passed > bytesBeforeCut) request.socket.destroy()
      })
      answer.on('end', () => response.end())
    })
    response.on('close', () => {
      upstream.destroy()
      resolve()
    })
    upstream.on('error', () => response.destroy())
    upstream.end(body)
    await promise
  })
  return {
    ...server,
    /** What was cut, in order. */
    cut,
  }
}
