import type { IncomingMessage } from 'node:http'
import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'

/**
 * Lets routes take WebSockets (`wsHandler`): a connection passes the hooks of its route like any other request. Whoever
 * serves one answers its pings, and closes it when the service shuts down.
 */
export async function installWebSockets(app: FastifyInstance, { maxFrameBytes }: { maxFrameBytes: number }) {
  await app.register(websocket, {
    options: { maxPayload: maxFrameBytes, autoPong: false },
    preClose: (done) => done(),
    errorHandler: (error, socket, request) => {
      request.log.debug({ err: error }, 'a WebSocket ended with an error')
      socket.terminate()
    },
  })
}

/** Clients also offer other protocols (`h2c`), which are not taken: their request is answered as it is. */
export function asksForWebSocket({ headers, method }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}
