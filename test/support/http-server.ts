import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { Server } from 'node:net'

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

/** A plain HTTP server on a free loopback port. A handler that throws answers 500 with its message. */
export async function startHttpServer(handler: Handler) {
  const server = createServer((request, response) => {
    Promise.resolve()
      .then(() => handler(request, response))
      .catch((error: unknown) => {
        if (response.headersSent) response.destroy()
        else sendJson(response, 500, { error: { message: String(error) } })
      })
  })
  const port = await listenOnLoopback(server)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: async () => {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      server.closeAllConnections()
      await closed.promise
    },
  }
}

/** Lets a server listen on a free port of the loopback address; answers the port. */
export async function listenOnLoopback(server: Server): Promise<number> {
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** The JSON body of a request. The caller says its shape: what a test's own service sends is not checked again. */
export async function readJson<T>(request: IncomingMessage): Promise<T> {
  return JSON.parse(await readText(request))
}

export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
