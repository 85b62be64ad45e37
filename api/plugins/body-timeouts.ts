import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../domain/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may take as long as it likes, while bytes arrive. */
    isUpload?: boolean
  }
}

export interface BodyTimeouts {
  /** From the head of a request to the last byte of its body. */
  requestTimeoutSeconds: number
  /** Between two bytes of an upload. */
  uploadIdleSeconds: number
}

/** What an answer to a client that is too slow gets to leave. */
const lingerMs = 1000

/**
 * Ends requests whose body drips in: each holds a connection and what arrived of it. Node's own
 * `requestTimeout` knows no routes, and an upload may take an hour.
 */
export function installBodyTimeouts(app: FastifyInstance, timeouts: BodyTimeouts): void {
  const requestTimeoutMs = timeouts.requestTimeoutSeconds * 1000
  const uploadIdleMs = timeouts.uploadIdleSeconds * 1000
  app.addHook('onRequest', async (request, reply) => {
    if (!hasBody(request.raw)) return
    const timer = request.routeOptions.config.isUpload
      ? watchProgress(request, reply, uploadIdleMs)
      : setTimeout(() => giveUp(request, reply), requestTimeoutMs)
    timer.unref()
    request.raw.once('close', () => clearInterval(timer))
  })
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Looks ten times per period whether bytes arrived. While the service itself does not read on, the client is not the slow one. */
function watchProgress(request: FastifyRequest, reply: FastifyReply, idleMs: number): NodeJS.Timeout {
  const { raw } = request
  let bytes = raw.socket.bytesRead
  let quietSince = Date.now()
  return setInterval(() => {
    const waitsForUs = raw.isPaused() || raw.readableLength > 0
    if (raw.socket.bytesRead !== bytes || waitsForUs) {
      bytes = raw.socket.bytesRead
      quietSince = Date.now()
    } else if (Date.now() - quietSince >= idleMs) giveUp(request, reply)
  }, idleMs / 10)
}

function giveUp({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete || raw.destroyed) return
  const isRead = !reply.raw.headersSent && raw.listenerCount('error') > 0
  if (!isRead) {
    raw.destroy()
    return
  }
  // Who reads the body gets an error, as from a connection that breaks off, and answers while it is still open.
  raw.emit('error', new AppError('request_timeout', 'The body of the request took too long to arrive.'))
  setTimeout(() => raw.destroy(), lingerMs).unref()
}
