import type { FastifyInstance, HTTPMethods } from 'fastify'
import findMyWay from 'find-my-way'

export interface RouteTable {
  /** The known methods of a path (without its query); empty for an unknown path. */
  methodsFor(url: string): string[]
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const satisfies HTTPMethods[]

/** A hook checks the length of ids, so that the answer has our shape. */
export const routerOptions = { ignoreTrailingSlash: true, maxParamLength: 64 * 1024 }

/**
 * Records every route, so that a known path with another method is answered 405 and not 404. Install it before any
 * route.
 */
export function installRouteTable(app: FastifyInstance): RouteTable {
  const router = findMyWay(routerOptions)
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const known = methods.find((candidate) => candidate === method)
      if (known && !router.hasRoute(known, route.url)) router.on(known, route.url, () => undefined)
    }
  })
  return {
    methodsFor(url) {
      const path = url.split('?', 1)[0] ?? url
      return methods.filter((method) => router.find(method, path) !== null)
    },
  }
}
