import type { FastifyInstance } from 'fastify'
import type { Auth } from './authentication.ts'

/** For account routes, and for requests that match no route. */
export const accountBodyBytes = 64 * 1024
const publicBodyBytes = 1024 * 1024

/**
 * The maximum size of a body depends on the route's access rule, unless the route sets it: a body of a stranger is
 * parsed before the caller is known.
 */
export function installBodyLimits(app: FastifyInstance, userBodyBytes: number): void {
  const limits: Record<Auth, number> = {
    none: accountBodyBytes,
    public: publicBodyBytes,
    user: userBodyBytes,
    project: userBodyBytes,
    token: userBodyBytes,
    'optional-user': userBodyBytes,
    codec: userBodyBytes,
    admin: accountBodyBytes,
  }
  app.addHook('onRoute', (route) => {
    const auth = route.config?.auth
    if (auth !== undefined) route.bodyLimit ??= limits[auth]
  })
}
