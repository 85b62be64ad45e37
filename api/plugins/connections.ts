import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
  createServer,
} from 'node:http'
import type { Socket } from 'node:net'
import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import { networkOf } from './client-address.ts'
import { type UnreadAnswers, type UnreadLimits, notedResponses } from './unread-answers.ts'

export interface ConnectionLimits extends UnreadLimits {
  maxConnections: number
  /** Behind a proxy all connections come from the proxy's address. */
  trustProxy: string[]
}

/** The server of the HTTP service, with limits for what one client and all of them may hold. */
export function createLimitedServer(
  handle: RequestListener,
  options: ServerOptions,
  { unread, ...limits }: ConnectionLimits & { unread: UnreadAnswers },
): Server {
  const server = createServer({ ...options, ServerResponse: notedResponses(unread, limits) })
  const answer = answerInTurn(handle)
  server.on('request', answer)
  // Without these two, Node answers such requests itself: any number of them, and at once.
  server.on('checkContinue', answer)
  server.on('checkExpectation', answer)
  limitConnections(server, limits)
  return server
}

/** So that five addresses are needed to take all connections; an office of a thousand people has one address. */
const shareOfOneAddress = 1 / 5

/** A connection above the limits is closed before anything is read from it. */
function limitConnections(server: Server, limits: ConnectionLimits): void {
  server.maxConnections = limits.maxConnections
  if (limits.trustProxy.length > 0) return
  const maxOfAddress = Math.ceil(limits.maxConnections * shareOfOneAddress)
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = networkOf(socket.remoteAddress ?? '')
    const count = (open.get(address) ?? 0) + 1
    if (count > maxOfAddress) {
      socket.destroy()
      return
    }
    open.set(address, count)
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
  })
}

/** The answer to a request that is not valid HTTP, or whose head arrives too slowly. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, detail] = clientErrors[error.code ?? ''] ?? ['400 Bad Request', 'This is not a valid HTTP request.']
  const body = JSON.stringify({ detail })
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncache-control: no-store\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroySoon()
}

const clientErrors: Record<string, [status: string, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The head of the request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The head of the request is too large.'],
}

type Handle<R extends ServerResponse> = (request: IncomingMessage, response: R) => void

/** Requests of one connection that are not answered; a client that sends one more is disconnected. */
const maxUnanswered = 16

/**
 * Begins an answer when the one before it on its connection has been taken by the client. A client may send further
 * requests before the first is answered (pipelining, RFC 9112, section 9.3.2); Node hands over all that one piece of
 * 64 KB holds at once, and their answers would wait in memory. At most one does.
 */
function answerInTurn<R extends ServerResponse>(handle: Handle<R>): Handle<R> {
  const unanswered = new WeakMap<Socket, { request: IncomingMessage; response: R }[]>()

  const begin = (socket: Socket, queue: { request: IncomingMessage; response: R }[]) => {
    const [next] = queue
    // What a client asked for after `connection: close`, or before it disconnected, is not begun.
    if (next === undefined || !socket.writable) return
    next.response.once('close', () => {
      queue.shift()
      begin(socket, queue)
    })
    // The client sends its body when it reads this (RFC 9110, section 10.1.1). Other expectations are ignored.
    if (/^100-continue$/i.test(next.request.headers.expect ?? '')) next.response.writeContinue()
    handle(next.request, next.response)
  }

  return (request, response) => {
    const { socket } = request
    // Node hands over all requests of a piece that has arrived, even after the connection was destroyed.
    if (socket.destroyed) return
    const queue = unanswered.get(socket) ?? []
    if (queue.length >= maxUnanswered) {
      socket.destroy()
      return
    }
    unanswered.set(socket, queue)
    if (queue.push({ request, response }) === 1) begin(socket, queue)
  }
}

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
