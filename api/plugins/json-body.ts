import type { FastifyInstance } from 'fastify'
import { AppError } from '../../domain/errors.ts'

/**
 * Bodies are JSON and nothing else (415). An empty body counts as missing, so that the schema decides about it.
 * Keys such as `__proto__` stay plain data: the parser defines them as own members, and nothing here assigns by
 * computed key.
 */
export function installJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json(?:;.*)?$/i,
    { parseAs: 'string' },
    (_request, body, done) => {
      const text = body.toString()
      if (text.trim() === '') return done(null, undefined)
      try {
        const value: unknown = JSON.parse(text)
        done(null, value)
      } catch (cause) {
        done(new AppError('bad_request', 'The body is not valid JSON.', { cause }))
      }
    },
  )
}
