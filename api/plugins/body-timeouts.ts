import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../domain/errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body has no time limit while bytes arrive. */
    isUpload?: boolean
  }
}

export interface BodyTimeouts {
  /** From the head of a request to the last byte of its body. */
  requestTimeoutSeconds?: number
  /** Between two bytes of an upload. */
  uploadIdleSeconds?: number
}

/** The head of a request, and then its body. Long enough for 16 MB over a slow line. */
export const defaultRequestTimeoutSeconds = 30
/** A phone that changes its network is back in less. */
const defaultUploadIdleSeconds = 60

/** How long the answer to a slow client may take. */
const lingerMs = 1000

/**
 * Ends requests whose body arrives too slowly, because each holds a connection and memory. Node's own
 * `requestTimeout` is the same for all routes, but an upload may take an hour.
 */
export function installBodyTimeouts(
  app: FastifyInstance,
  { requestTimeoutSeconds = defaultRequestTimeoutSeconds, uploadIdleSeconds = defaultUploadIdleSeconds }: BodyTimeouts,
): void {
  const requestTimeoutMs = requestTimeoutSeconds * 1000
  const uploadIdleMs = uploadIdleSeconds * 1000
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

/**
 * Checks ten times per period whether bytes arrived. While the service itself does not read, the client is not to
 * blame.
 */
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
  // The reader of the body gets an error, as from a broken connection, and answers while the connection is open.
  raw.emit('error', new AppError('request_timeout', 'The body of the request took too long to arrive.'))
  setTimeout(() => raw.destroy(), lingerMs).unref()
}
