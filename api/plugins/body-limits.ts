import type { FastifyInstance } from 'fastify'
import type { Auth } from './authentication.ts'

/** What the body of a route carries, if a megabyte is too little for it. */
type LargeBody = 'messages' | 'object'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * - `messages`: the messages of a conversation; `MAX_BODY_MB`
     * - `object`: one free-form object of one or two megabytes, whose text may be escaped; 4 MB
     */
    largeBody?: LargeBody
  }
}

/** For account routes, and for requests that match no route. */
export const accountBodyBytes = 64 * 1024
const bodyBytes = 1024 * 1024
const objectBodyBytes = 4 * 1024 * 1024

/**
 * The maximum size of a body depends on the route's access rule and on what it carries, unless the route sets it: a
 * body of a stranger is parsed before the caller is known. `maxBodyBytes` is the maximum for all.
 */
export function installBodyLimits(app: FastifyInstance, maxBodyBytes: number): void {
  const ordinary = Math.min(bodyBytes, maxBodyBytes)
  const large: Record<LargeBody, number> = { messages: maxBodyBytes, object: Math.min(objectBodyBytes, maxBodyBytes) }
  const limits: Record<Auth, number> = {
    none: accountBodyBytes,
    public: bodyBytes,
    user: ordinary,
    project: ordinary,
    token: ordinary,
    'optional-user': ordinary,
    // The payloads of a history's page, which the user interface of Temporal sends together.
    codec: maxBodyBytes,
    admin: accountBodyBytes,
    // A change of a group can name thousands of users.
    scim: ordinary,
  }
  app.addHook('onRoute', (route) => {
    const { auth, largeBody } = route.config ?? {}
    if (auth !== undefined) route.bodyLimit ??= largeBody === undefined ? limits[auth] : large[largeBody]
  })
}
