import type { FastifyInstance } from 'fastify'
import { AppError } from '../../domain/errors.ts'

const maxIdLength = 500

/** No id is that long: answered 404 before a token is checked or a store is read. */
export function installPathIds(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    if (request.method === 'OPTIONS' || request.routeOptions.config.isStaticPage) return
    const values: unknown[] = Object.values(request.params ?? {})
    if (values.some((value) => typeof value === 'string' && value.length > maxIdLength))
      throw new AppError('not_found', 'Not found.')
  })
}
