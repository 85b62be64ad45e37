import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../domain/errors.ts'
import { parseExactJson } from '../../domain/json-text.ts'
import { JsonLimitError, parseForeignJsonInTurns, refusalOf } from '../../domain/foreign-json.ts'

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
