import type { FastifyInstance, HTTPMethods } from 'fastify'
import findMyWay from 'find-my-way'
import { AppError } from '../../domain/errors.ts'

export interface RouteTable {
  /** The known methods of a path (without its query); empty for an unknown path. */
  methodsFor(url: string): string[]
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const satisfies HTTPMethods[]

/** A hook checks the length of ids, so that the answer has our shape. */
export const routerOptions = { ignoreTrailingSlash: true, maxParamLength: 64 * 1024 }

/**
 * Records every route, so that a known path with another method is answered 405 and not 404. Install it before any
 * route and any other hook.
 */
export function installRouteTable(app: FastifyInstance): RouteTable {
  const router = findMyWay(routerOptions)
  const fixedPaths = new Map<string, Set<string>>()
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const known = methods.find((candidate) => candidate === method)
      if (known && !router.hasRoute(known, route.url)) router.on(known, route.url, () => undefined)
      if (known && !/[:*]/.test(route.url)) {
        const path = withoutSlash(route.url)
        fixedPaths.set(path, (fixedPaths.get(path) ?? new Set()).add(known))
      }
    }
  })
  // The router passes a path to a pattern (/assistants/:aid) if its own route (/assistants/public) lacks the method.
  app.addHook('onRequest', (request, _reply, done) => {
    const isPattern = request.routeOptions.url?.includes(':') === true
    const known = isPattern ? fixedPaths.get(withoutSlash(pathOf(request.url))) : undefined
    if (known === undefined) done()
    else done(methodNotAllowed(request.method, [...known]))
  })
  return {
    methodsFor(url) {
      const fixed = fixedPaths.get(withoutSlash(pathOf(url)))
      if (fixed !== undefined) return [...fixed]
      return methods.filter((method) => router.find(method, pathOf(url)) !== null)
    },
  }
}

export function methodNotAllowed(
  method: string,
  allowed: string[],
  message = `${method} is not allowed here.`,
): AppError {
  return new AppError('method_not_allowed', message, {
    headers: { allow: allowed.join(', ') },
  })
}

const pathOf = (url: string) => url.split('?', 1)[0] ?? url
const withoutSlash = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : path)
