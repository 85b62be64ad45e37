import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A page, or a file of one, that is the same for everybody. */
    isStaticPage?: boolean
  }
}

/** Nothing but static pages may be kept by a browser or a proxy: answers hold what users wrote, and tokens. */
export function installCacheControl(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!request.routeOptions.config.isStaticPage) reply.header('cache-control', 'no-store')
  })
}
