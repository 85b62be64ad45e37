import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../domain/errors.ts'
import { JsonLimitError, parseForeignJsonInTurns, refusalOf } from '../../domain/foreign-json.ts'
import { parseExactJson } from '../../domain/json.ts'
import type { Auth } from './authentication.ts'

/** What the body of a route carries, if a megabyte is too little for it. */
type LargeBody = 'messages' | 'object'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * - `messages`: the messages of a conversation; `MAX_BODY_MB`
     * - `object`: one free-form object of one or two megabytes, whose text may be escaped; 4 MB
     */
    largeBody?: LargeBody
  }
}

/** For account routes, and for requests that match no route. */
export const accountBodyBytes = 64 * 1024
const bodyBytes = 1024 * 1024
const objectBodyBytes = 4 * 1024 * 1024

/**
 * The maximum size of a body depends on the route's access rule and on what it carries, unless the route sets it: a
 * body of a stranger is parsed before the caller is known. `maxBodyBytes` is the maximum for all.
 */
export function installBodyLimits(app: FastifyInstance, maxBodyBytes: number): void {
  const ordinary = Math.min(bodyBytes, maxBodyBytes)
  const large: Record<LargeBody, number> = { messages: maxBodyBytes, object: Math.min(objectBodyBytes, maxBodyBytes) }
  const limits: Record<Auth, number> = {
    none: accountBodyBytes,
    public: bodyBytes,
    user: ordinary,
    project: ordinary,
    token: ordinary,
    'optional-user': ordinary,
    // The payloads of a history's page, which the user interface of Temporal sends together.
    codec: maxBodyBytes,
    admin: accountBodyBytes,
    // A change of a group can name thousands of users.
    scim: ordinary,
  }
  app.addHook('onRoute', (route) => {
    const { auth, largeBody } = route.config ?? {}
    if (auth !== undefined) route.bodyLimit ??= largeBody === undefined ? limits[auth] : large[largeBody]
  })
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Numbers of the body are only passed on, with the digits that they came with. */
    exactNumbers?: boolean
  }
}

/**
 * Bodies are JSON and nothing else (415). An empty body counts as missing, so that the schema decides about it.
 * Fastify bounds the size, the scan depth and number of members, and only then the body is parsed.
 * Keys such as `__proto__` stay plain data: the parser defines them as own members, and nothing here assigns by
 * computed key.
 */
export function installJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json(?:;.*)?$/i,
    { parseAs: 'string' },
    async (request: FastifyRequest, body: string) => {
      if (body.trim() === '') return undefined
      const parse = request.routeOptions.config.exactNumbers === true ? parseExactJson : undefined
      try {
        return await parseForeignJsonInTurns(body, { bytes: Infinity }, parse)
      } catch (cause) {
        throw problemOf(cause)
      }
    },
  )
}

function problemOf(cause: unknown): AppError {
  if (cause instanceof JsonLimitError) return refusalOf(cause, ['body'])
  return new AppError('bad_request', 'The body is not valid JSON.', { cause })
}

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
