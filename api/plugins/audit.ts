import type { FastifyInstance, FastifyRequest } from 'fastify'
import { decodeJwt } from 'jose'
import { cutText } from '../../domain/cut-text.ts'
import { isJsonObject } from '../../domain/json.ts'
import type { Audit } from '../../services/audit/index.ts'
import { clientOf } from './client-address.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The operation is recorded in the audit log; `and refusals`: also when it is refused. */
    audit?: 'successes' | 'and refusals'
    /** The request comes by a link, so its sender may be somebody else than the user whom it concerns. */
    isLink?: boolean
  }
  interface FastifyRequest {
    /** The account that a request without a session concerns, once it is known. */
    auditedUser: string | undefined
  }
}

const refused = new Set([400, 401, 403])

/**
 * Records in the audit log who did what, before the answer is sent. An entry that cannot be stored is only logged:
 * it does not make the request fail. Of bodies, only the e-mail address of a refused login is read, to find its
 * account.
 */
export function installAudit(app: FastifyInstance, audit: Pick<Audit, 'record' | 'userOf'>): void {
  app.decorateRequest('auditedUser', undefined)

  app.addHook('onSend', async (request, reply, payload) => {
    const { audit: kept, auth } = request.routeOptions.config
    const status = reply.statusCode
    const isWrongAdmin = auth === 'admin' && status === 401
    const isDone = status < 400
    const isRefusal = refused.has(status) && (kept === 'and refusals' || isWrongAdmin)
    if (!(kept !== undefined && isDone) && !isRefusal) return payload
    try {
      await audit.record({
        actor: actorOf(request, isDone),
        action: isWrongAdmin
          ? 'admin.access'
          : (request.routeOptions.schema?.operationId ?? request.routeOptions.url ?? ''),
        outcome: isDone ? 'done' : 'refused',
        subjects: isWrongAdmin ? [] : subjectsOf(request),
        userId: isWrongAdmin ? undefined : await userOf(request),
        projectId: projectOf(request),
        client: clientOf(request),
        userAgent: request.headers['user-agent'],
      })
    } catch (error) {
      request.log.warn({ err: error }, 'audit log entry not stored')
    }
    return payload
  })

  async function userOf(request: FastifyRequest): Promise<string | undefined> {
    if (request.session !== null) return request.session.user._id
    if (request.auditedUser !== undefined) return request.auditedUser
    const inPath = member(request.params, 'user_id') ?? member(request.query, 'user_id')
    if (inPath !== undefined) return inPath
    const email = member(request.body, 'email') ?? member(request.query, 'email')
    return email === undefined ? undefined : audit.userOf(email)
  }
}

/** Of requests of those who use it: the project of the token, or of the path. */
function projectOf(request: FastifyRequest): string | undefined {
  if (request.session === null) return undefined
  const { auth, role } = request.routeOptions.config
  if (auth === 'project') return request.session.projectId
  return role === undefined ? undefined : member(request.params, 'project_id')
}

/** Records the request for the user of a token that it has just created. */
export function auditToken(request: FastifyRequest, token: string): void {
  const userId = decodeJwt(token)['user_id']
  if (typeof userId === 'string') request.auditedUser = userId
}

/** Records the request for the owner of what its link names. */
export function auditOwner(request: FastifyRequest, userId: string): void {
  request.auditedUser = userId
}

function actorOf(request: FastifyRequest, isDone: boolean): 'user' | 'admin' | 'anonymous' {
  const { auth, isLink } = request.routeOptions.config
  // Provisioning acts for operators.
  if (auth === 'admin' || auth === 'scim') return isDone ? 'admin' : 'anonymous'
  if (isLink) return 'anonymous'
  return request.session !== null || isDone ? 'user' : 'anonymous'
}

/** Only ids: an e-mail address in a path is left out. */
function subjectsOf({ params }: FastifyRequest): string[] {
  if (!isJsonObject(params)) return []
  return Object.entries(params).flatMap(([name, value]) =>
    typeof value === 'string' && !['email', 'user_id', 'token', 'share_token', 'invitation_token'].includes(name)
      ? [cutText(value, 255)]
      : [],
  )
}

function member(value: unknown, name: string): string | undefined {
  const found = isJsonObject(value) ? value[name] : undefined
  return typeof found === 'string' && found.length <= 320 ? found : undefined
}
