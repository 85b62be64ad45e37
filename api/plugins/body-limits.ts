import type { FastifyInstance } from 'fastify'
import type { Auth } from './authentication.ts'

/** Of account routes, and of what matches no route. */
export const accountBodyBytes = 64 * 1024
const publicBodyBytes = 1024 * 1024

/**
 * How large a body may be depends on who may call the route, unless the route says it itself: what
 * strangers send is parsed before anybody is known.
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
