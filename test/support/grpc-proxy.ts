import { type Http2Session, type IncomingHttpHeaders, type ServerHttp2Stream, connect, createServer } from 'node:http2'
import { listenOnLoopback } from './http-server.ts'

/** A server between gRPC clients and `target` (host:port) that holds back the requests of single methods. */
export async function startGrpcProxy(target: string) {
  const upstream = connect(`http://${target}`)
  upstream.on('error', () => undefined)
  const sessions = new Set<Http2Session>()
  const holds = new Map<string, Hold>()
  const seen = new Map<string, { count: number; waiting: { upTo: number; resolve(): void }[] }>()

  const seenOf = (method: string) => {
    const known = seen.get(method) ?? { count: 0, waiting: [] }
    seen.set(method, known)
    return known
  }
  const note = (method: string) => {
    const calls = seenOf(method)
    calls.count += 1
    for (const each of calls.waiting) if (each.upTo <= calls.count) each.resolve()
  }

  const server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session)).on('error', () => undefined)
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    const method = headers[':path']?.split('/').at(-1) ?? ''
    void pass(stream, headers, method)
  })

  async function pass(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, method: string): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of stream) parts.push(Buffer.from(part))
    note(method)
    const hold = holds.get(method)
    await hold?.released
    // A server that is late does what it was asked, whether or not somebody still waits.
    const asked = upstream.request(headers)
    asked.on('error', () => stream.close())
    asked.on('close', () => hold?.passed.resolve())
    asked.end(Buffer.concat(parts))
    let trailers: IncomingHttpHeaders = {}
    asked.on('trailers', (last) => {
      trailers = last
    })
    stream.on('aborted', () => hold === undefined && asked.close())
    asked.on('response', ({ ':status': status, ...answer }) => {
      if (stream.destroyed) {
        asked.resume()
        return
      }
      stream.respond({ ':status': status, ...answer }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers(trailers))
      asked.pipe(stream)
    })
  }

  const port = await listenOnLoopback(server)
  return {
    address: `127.0.0.1:${port}`,
    /** Requests of the method wait from now on. `release` lets them through; it resolves when one has been answered. */
    hold(method: string) {
      const released = Promise.withResolvers<void>()
      const passed = Promise.withResolvers<void>()
      holds.set(method, { released: released.promise, passed })
      return {
        release: async () => {
          holds.delete(method)
          released.resolve()
          await passed.promise
        },
      }
    },
    /** Resolves when the method has been called `times` times more. */
    async calls(method: string, times: number): Promise<void> {
      const calls = seenOf(method)
      const { promise, resolve } = Promise.withResolvers<void>()
      calls.waiting.push({ upTo: calls.count + times, resolve })
      await promise
    },
    async close() {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      for (const session of sessions) session.destroy()
      upstream.destroy()
      await closed.promise
    },
  }
}

interface Hold {
  released: Promise<void>
  passed: PromiseWithResolvers<void>
}
