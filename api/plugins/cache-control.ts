import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A page, or one of its files, that is the same for everybody. */
    isStaticPage?: boolean
  }
}

/** Browsers and proxies may cache only static pages, because answers contain users' data and tokens. */
export function installCacheControl(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!request.routeOptions.config.isStaticPage) reply.header('cache-control', 'no-store')
  })
}
