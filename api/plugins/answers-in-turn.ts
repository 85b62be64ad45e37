import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Handle<R extends ServerResponse> = (request: IncomingMessage, response: R) => void

/** Requests of one connection that are not answered; a client that sends one more is disconnected. */
const maxUnanswered = 16

/**
 * Begins an answer when the one before it on its connection has been taken by the client. A client may send further
 * requests before the first is answered (pipelining, RFC 9112, section 9.3.2); Node hands over all that one piece of
 * 64 KB holds at once, and their answers would wait in memory. At most one does.
 */
export function answerInTurn<R extends ServerResponse>(handle: Handle<R>): Handle<R> {
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
