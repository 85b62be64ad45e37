import { request as httpRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { startHttpServer } from '../../support/http-server.ts'

/** An answer is cut behind the event with its first word. */
const firstWord = 'You'

/**
 * Stands between a client and a service. A request whose body says `cut before` or `cut in the middle` loses its
 * connection once on each interface: before the answer, or in it. Its repetition passes.
 */
export async function startCuttingProxy(target: string) {
  const cut: string[] = []
  const cutPositions = new Set<string>()
  const server = await startHttpServer(async (request, response) => {
    const body = await buffer(request)
    const words = /cut (?:before|in the middle)( \w+)?/.exec(body.toString('utf8'))?.[0]
    const place = `${request.url} ${words}`
    const isFirst = words !== undefined && !cutPositions.has(place)
    if (isFirst) {
      cutPositions.add(place)
      cut.push(words)
    }
    if (isFirst && words.startsWith('cut before')) {
      request.socket.destroy()
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const { host: _, ...headers } = request.headers
    const upstream = httpRequest(new URL(request.url ?? '/', target), { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      let passed = ''
      let isCut = false
      answer.on('data', (piece: Buffer) => {
        if (isCut) return
        const before = passed.length
        passed += piece.toString('latin1')
        const end = isFirst ? endOfCut(passed) : undefined
        isCut = end !== undefined
        if (end === undefined) response.write(piece)
        else response.write(piece.subarray(0, Math.max(0, end - before)), () => request.socket.destroy())
      })
      answer.on('end', () => isCut || response.end())
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
    /** Cuts once more, and begins the list anew. */
    cutAnew() {
      cutPositions.clear()
      cut.splice(0)
    },
  }
}

function endOfCut(passed: string): number | undefined {
  const word = passed.indexOf(firstWord)
  const end = word < 0 ? -1 : passed.indexOf('\n\n', word)
  return end < 0 ? undefined : end + 2
}
