import type { FastifyInstance } from 'fastify'
import { AppError } from '../../domain/errors.ts'
import { parseExactJson } from '../../domain/json-text.ts'
import { JsonLimitError, checkForeignJson, parseForeignJson, refusalOf } from '../../domain/foreign-json.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Numbers of the body are only passed on, with the digits that they came with. */
    exactNumbers?: boolean
  }
}

/**
 * Bodies are JSON and nothing else (415). An empty body counts as missing, so that the schema decides about it.
 * Fastify bounds the size (`body-limits.ts`), the scan depth and number of members, and only then the body is parsed.
 * Keys such as `__proto__` stay plain data: the parser defines them as own members, and nothing here assigns by
 * computed key.
 */
export function installJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json(?:;.*)?$/i,
    { parseAs: 'string' },
    (request, body, done) => {
      const text = body.toString()
      if (text.trim() === '') return done(null, undefined)
      try {
        if (request.routeOptions.config.exactNumbers !== true)
          return done(null, parseForeignJson(text, { bytes: Infinity }))
        checkForeignJson(text, { bytes: Infinity })
        done(null, parseExactJson(text))
      } catch (cause) {
        done(problemOf(cause))
      }
    },
  )
}

function problemOf(cause: unknown): AppError {
  if (cause instanceof JsonLimitError) return refusalOf(cause, ['body'])
  return new AppError('bad_request', 'The body is not valid JSON.', { cause })
}
