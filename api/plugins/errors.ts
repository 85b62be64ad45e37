import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode } from '../../domain/errors.ts'
import { sendHtmlPage } from '../routes/html-page.ts'
import { type RouteTable, methodNotAllowed } from './route-table.ts'

/** Fastify's own refusals in our terms; any other is answered as a 500. */
const fastifyRefusals: Record<string, { code: ErrorCode; message: string }> = {
  FST_ERR_CTP_INVALID_JSON_BODY: { code: 'bad_request', message: 'The body is not valid JSON.' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'bad_request',
    message: 'The body does not have the length that Content-Length says.',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'unsupported_media_type',
    message: 'This content type is not supported here.',
  },
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'payload_too_large', message: 'The body is too large.' },
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: { code: 'unsupported_media_type', message: 'A Content-Type is required here.' },
  FST_ERR_BAD_URL: { code: 'bad_request', message: 'The URL is invalid.' },
}
/** Error codes may come from any library. */
const fastifyCodes = new Map(Object.entries(fastifyRefusals))

/** How the refusals of a family of routes look. */
export interface ErrorShape {
  bodyOf(body: ErrorBody, error: AppError): object
  /** The HTTP status, if it is another than that of the error's code. */
  statusOf?(error: AppError): number
  /** The message for a request that no route takes, if it is another than for the other families. */
  unknownRoute?(method: string, path: string): string
}

/** Characters of a path that an answer repeats. */
const shownPathLength = 200
const ownShape: ErrorShape = { bodyOf: (body) => body }

export interface ErrorDeps {
  routes: RouteTable
  /** Whether an error means that a server which the service needs is unreachable. */
  isUnavailable: (error: unknown) => boolean
}

/**
 * Gives every refusal the same shape: `{detail}`, or for 422 `{detail: [{loc, msg, type}]}`. A family of routes has
 * another `shape`, if this is called in the family's scope.
 */
export function installErrors(
  app: FastifyInstance,
  { routes, isUnavailable }: ErrorDeps,
  shape: ErrorShape = ownShape,
): void {
  const asAppError = (error: unknown) => (isUnavailable(error) ? unavailable(error) : toAppError(error))
  app.setNotFoundHandler((request, reply) => {
    const refused = noSuchRoute(request, routes, shape)
    if (shape === ownShape && refused.code === 'not_found' && isOpenedByPerson(request))
      return sendHtmlPage(request, reply.code(404), 'noSuchPage')
    return sendError(reply, refused, shape)
  })

  app.setErrorHandler((error: FastifyError | AppError, request, reply) => {
    const isBrokenOff = request.raw.destroyed && !request.raw.complete && !(error instanceof AppError)
    const refused = isBrokenOff ? new AppError('bad_request', 'The request was interrupted.') : asAppError(error)
    // The client is still sending: the rest of the body would be taken for the next request.
    if (refused.code === 'request_timeout') reply.header('connection', 'close')
    // Problems of a body do not matter if the path is unknown.
    const isUnknown = request.is404 && refused.status < 500 && refused.code !== 'too_many_requests'
    const known = isUnknown ? noSuchRoute(request, routes, shape) : refused
    if (known.status >= 500) request.log.error({ err: error, code: known.code }, 'request failed')
    else request.log.debug({ code: known.code, reason: known.message }, 'request refused')
    // The rest of a body that is too large is read and discarded, because a client would not receive the answer if
    // the connection were closed.
    if (refused.code === 'payload_too_large') reply.removeHeader('connection')
    return sendError(reply, known, shape)
  })
}

/**
 * A URL that cannot be decoded matches no route, so no hook runs for it. Below static pages it is treated like a
 * missing file.
 */
export function answerBadUrl(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const isPage = /^\/(?:docs|redoc|console-assets)\//.test(request.url)
  reply.header('x-request-id', request.id)
  void sendError(reply, isPage ? new AppError('not_found', 'Not found.') : toAppError(error), ownShape)
}

/** Programs ask for JSON, or do not say what they want. */
function isOpenedByPerson({ method, headers: { accept = '' } }: FastifyRequest): boolean {
  return method === 'GET' && accept.includes('text/html')
}

/**
 * 404 for an unknown path, 405 for a known path with another method. A known path that is itself answered 405 has
 * no resource.
 */
function noSuchRoute({ url, method }: FastifyRequest, routes: RouteTable, { unknownRoute }: ErrorShape): AppError {
  const message = unknownRoute?.(method, url.replace(/[?#].*/s, '').slice(0, shownPathLength))
  const allowed = routes.methodsFor(url)
  if (allowed.length === 0 || allowed.includes(method === 'HEAD' ? 'GET' : method))
    return new AppError('not_found', message ?? 'Not found.')
  return methodNotAllowed(method, allowed, message)
}

function unavailable(cause: unknown): AppError {
  const message = 'The service is partly down; try again soon.'
  return new AppError('unavailable', message, { cause, retryAfterSeconds: 5 })
}

/** Any thrown value as an `AppError`; an unknown error becomes `internal` without details. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  const refusal = typeof code === 'string' ? fastifyCodes.get(code) : undefined
  if (refusal) return new AppError(refusal.code, refusal.message, { cause: error })
  return new AppError('internal', 'Something went wrong on our side.', { cause: error })
}

function sendError(reply: FastifyReply, error: AppError, { bodyOf, statusOf }: ErrorShape) {
  reply
    .code(statusOf?.(error) ?? error.status)
    .header('cache-control', 'no-store')
    .headers(error.headers)
  if (error.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.retryAfterSeconds))
  if (error.status === 401 && !('www-authenticate' in error.headers)) reply.header('www-authenticate', 'Bearer')
  return reply.type('application/json; charset=utf-8').send(bodyOf({ detail: error.fields ?? error.message }, error))
}

interface ErrorBody {
  detail: string | NonNullable<AppError['fields']>
}
