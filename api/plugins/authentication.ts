import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type NeededRole, isEnough } from '../../domain/acting.ts'
import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { AdminGate } from '../../services/auth/admin-gate.ts'
import type { Session, Sessions } from '../../services/auth/sessions.ts'
import type { TokenClaims } from '../../services/auth/tokens.ts'
import * as owner from '../../services/owner.ts'
import { checkRole } from '../../services/owner.ts'
import { bearerOf } from './bearer-token.ts'
import { roleOfOperation } from './operation-roles.ts'
import type { Limiter } from './rate-limits.ts'

/**
 * The access rule of a route:
 * - `none`: everybody
 * - `user`: a service token
 * - `project`: a service token whose project exists, and belongs to the caller or is shared with him; the route's role
 *   says what a member needs (`operation-roles.ts`)
 * - `token`: a service token whose user is not loaded, because it may have been deleted
 * - `optional-user`: everybody; a service token is used if there is one (an invalid one is refused)
 * - `public`: the access mode of the assistant, checked by the route's own service
 * - `codec`: the token of the codec endpoint, checked by the route's own hook
 * - `admin`: the admin token
 * - `scim`: the token of provisioning; without one, there is nothing
 */
export type Auth = 'none' | 'user' | 'project' | 'token' | 'optional-user' | 'public' | 'codec' | 'admin' | 'scim'

declare module 'fastify' {
  interface FastifyContextConfig {
    auth?: Auth
    /** With `user`: also while the account is being deleted. */
    mayBeDeleting?: boolean
    /** What the operation demands of a member of the project; of those in the description, `operation-roles.ts` says it. */
    role?: NeededRole | undefined
  }
  interface FastifyRequest {
    session: Session | null
    /** Set if a route declares `token`. */
    tokenClaims: TokenClaims | null
  }
}

/** A route without `auth` stops the start, so that an access rule cannot be forgotten. */
export function installAuthentication(
  app: FastifyInstance,
  {
    sessions,
    adminGate,
    scimGate,
    adminGuesses,
  }: { sessions: Sessions; adminGate: AdminGate; scimGate: AdminGate; adminGuesses: Limiter },
): void {
  app.decorateRequest('session', null)
  app.decorateRequest('tokenClaims', null)

  app.addHook('onRoute', (route) => {
    if (route.config?.auth === undefined)
      throw new Error(`${String(route.method)} ${route.url} has no access rule (config.auth)`)
    const role = route.config.role ?? roleOfOperation(route.schema?.operationId)
    if (route.config.auth === 'project' && role === undefined)
      throw new Error(`${String(route.method)} ${route.url} has no role (api/plugins/operation-roles.ts)`)
    // Routes of a plugin share this object.
    route.config = { ...route.config, role }
  })

  app.addHook('onRequest', async (request) => {
    switch (request.routeOptions.config.auth) {
      case 'user':
        request.session = await sessions.open(requireBearer(request), {
          mayBeDeleting: request.routeOptions.config.mayBeDeleting,
        })
        return
      case 'project':
        request.session = await sessions.open(requireBearer(request), { withProject: true })
        requireRoleOf(request)
        return
      case 'token':
        request.tokenClaims = await sessions.claims(requireBearer(request))
        return
      case 'optional-user':
        if (request.headers.authorization !== undefined)
          request.session = await sessions.open(requireBearer(request), { withProject: 'if available' })
        return
      case 'admin':
        await admitBy(adminGate, request, adminTokensOf(request))
        return
      case 'scim':
        if (!scimGate.isConfigured) throw new AppError('not_found', 'Provisioning is not set up.')
        await admitBy(scimGate, request, [bearerOf(request)])
        return
      case 'none':
      case 'public':
      case 'codec':
      case undefined:
    }
  })

  /**
   * Wrong tokens are counted. Above the limit every token is refused, because otherwise the right one could still
   * be found.
   */
  async function admitBy(gate: AdminGate, request: FastifyRequest, given: (string | undefined)[]): Promise<void> {
    try {
      gate.check(...given)
    } catch (error) {
      const isGuess = gate.isConfigured && given.some((token) => token !== undefined)
      if (isGuess) await adminGuesses(request)
      throw error
    }
    await adminGuesses(request, { increment: false })
  }
}

/** The session on a route that declares `user` or `project`. */
export function sessionOf(request: FastifyRequest): Session {
  if (request.session === null) throw new AppError('unauthenticated', 'An access token is required.')
  return request.session
}

/** The content of the token on a route that declares `token`. */
export function claimsOf(request: FastifyRequest): TokenClaims {
  if (request.tokenClaims === null) throw new AppError('unauthenticated', 'An access token is required.')
  return request.tokenClaims
}

/** Refuses a member whose role is less than the operation demands. */
export function requireRoleOf(request: FastifyRequest): void {
  const { user, holderId, role } = sessionOf(request)
  const { role: needed = 'holder' } = request.routeOptions.config
  checkRole({ role, isHolder: holderId === user._id }, needed)
}

/** The caller and the project, for what belongs to persons: threads, runs, schedules. */
export function callerOf(request: FastifyRequest): owner.Caller {
  const { user, projectId, holderId, role, isShared } = sessionOf(request)
  const shared = isShared ? { isShared } : {}
  return { userId: user._id, projectId, ...(holderId === user._id ? {} : { holderId, role }), ...shared }
}

/** The holder of the project and the project, for what belongs to projects: assistants, files, vector stores. */
export function holderOf(request: FastifyRequest): ReturnType<typeof owner.holderOf> {
  return owner.holderOf(callerOf(request))
}

/** Whose assistants and files the caller may touch: all of his own, or those of the one project that is shared with him. */
export function ownerOf(request: FastifyRequest): owner.Owner {
  return owner.ownerOf(callerOf(request))
}

/**
 * As whom the caller sees the configuration of an assistant: editors see what the holder sees of their project, and of
 * everything else what is public, as all others do.
 */
export function viewerOf(request: FastifyRequest, assistant: Pick<AssistantRecord, 'user_id' | 'project_id'>): string {
  const { user, holderId, role } = sessionOf(request)
  return isEnough(role, 'editor') && owner.owns(ownerOf(request), assistant) ? holderId : user._id
}

function requireBearer(request: FastifyRequest): string {
  const token = bearerOf(request)
  if (token === undefined) throw new AppError('unauthenticated', 'An access token is required.')
  return token
}

/** The contract's query parameter, and two headers: URLs are stored in the logs of proxies, headers are not. */
function adminTokensOf(request: FastifyRequest): (string | undefined)[] {
  return [queryValue(request, 'admin_token'), bearerOf(request), ...[request.headers['x-admin-token']].flat()]
}

function queryValue(request: FastifyRequest, name: string): string | undefined {
  const query: unknown = request.query
  if (typeof query !== 'object' || query === null || !(name in query)) return undefined
  const value: unknown = Object.entries(query).find(([key]) => key === name)?.[1]
  return typeof value === 'string' ? value : undefined
}
