import type { FastifyInstance, HTTPMethods } from 'fastify'
import findMyWay from 'find-my-way'

export interface RouteTable {
  /** The methods that are known for a path (query ignored); empty for an unknown path. */
  methodsFor(url: string): string[]
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const satisfies HTTPMethods[]

/** The length of ids is checked by a hook, so that the answer is one of ours. */
export const routerOptions = { ignoreTrailingSlash: true, maxParamLength: 64 * 1024 }

/** Remembers every route, so that a known path with another method is answered 405 and not 404. Install before any route. */
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
