import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { PublicOrigins } from '../../services/public/index.ts'

/** What pages of some origins may do. */
interface CorsPolicy {
  origins: readonly string[]
  methods: string
  /** The requested headers that the page may send. */
  allowsHeader: (name: string) => boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For routes with their own origins; false if the route decides by itself. */
    cors?: CorsPolicy | false
  }
}

const exposedHeaders = 'x-request-id, content-location, retry-after, link'
const preflightSeconds = '600'

/**
 * CORS (Fetch standard, section 3.2) of the service's own routes: pages of the configured origins may make calls
 * with credentials. Other origins get no CORS headers, and every preflight is answered 200.
 */
export function installCors(app: FastifyInstance, origins: string[]): void {
  const ours: CorsPolicy = { origins, methods: 'GET, POST, PUT, PATCH, DELETE', allowsHeader: () => true }
  const policyOf = (request: FastifyRequest) => request.routeOptions.config.cors ?? ours

  app.addHook('onRequest', async (request, reply) => {
    const policy = policyOf(request)
    if (policy === false) return
    reply.header('vary', 'Origin')
    const { origin } = request.headers
    if (origin !== undefined && policy.origins.includes(origin)) allow(reply, origin)
  })

  app.options('*', { schema: { hide: true } }, async (request, reply) => answerPreflight(request, reply, ours))
}

/** Answers a preflight of a route with its own CORS policy. */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply, policy: CorsPolicy) {
  const { origin } = request.headers
  reply.header('vary', 'Origin, Access-Control-Request-Headers')
  if (origin !== undefined && policy.origins.includes(origin)) grant(request, reply, origin, policy)
  return reply.code(200).send()
}

export type PublicCors = ReturnType<typeof createPublicCors>

/** The headers that browsers may send to the public family, including those of the official clients. */
const publicHeaders =
  /^(?:accept|authorization|content-type|http-referer|idempotency-key|last-event-id|openai-[a-z-]+|user-agent|x-public-bot-token|x-request-id|x-stainless-[a-z-]+|x-title)$/
const publicRules = { methods: 'GET, POST, OPTIONS', allowsHeader: (name: string) => publicHeaders.test(name) }

/** CORS of the public family, whose origins each assistant lists itself. */
export function createPublicCors(origins: PublicOrigins) {
  return {
    /** A preflight carries no token, so it allows every origin that any assistant lists. */
    async preflight(request: FastifyRequest, reply: FastifyReply) {
      const { origin } = request.headers
      const known = origin !== undefined && (await origins.isKnown(origin)) ? [origin] : []
      return answerPreflight(request, reply, { ...publicRules, origins: known })
    },

    /**
     * Finds the caller's assistant and checks the request's origin. A page of any origin that passes the preflight
     * may read a refusal.
     */
    async admit(
      request: FastifyRequest,
      reply: FastifyReply,
      find: () => Promise<AssistantRecord>,
    ): Promise<AssistantRecord> {
      const origin = request.headers.origin
      reply.header('vary', 'Origin')
      if (origin === undefined) return find()
      const assistant = await find().catch(async (error: unknown) => {
        if (await origins.isKnown(origin)) allow(reply, origin)
        throw error
      })
      if (origins.admits(assistant, origin)) allow(reply, origin)
      return assistant
    },
  }
}

function allow(reply: FastifyReply, origin: string): void {
  reply.header('access-control-allow-origin', origin)
  reply.header('access-control-allow-credentials', 'true')
  reply.header('access-control-expose-headers', exposedHeaders)
}

function grant(request: FastifyRequest, reply: FastifyReply, origin: string, policy: CorsPolicy): void {
  const wanted = (request.headers['access-control-request-headers'] ?? '').toLowerCase().split(',')
  const granted = wanted.map((name) => name.trim()).filter((name) => /^[\w-]+$/.test(name) && policy.allowsHeader(name))
  allow(reply, origin)
  reply.header('access-control-allow-methods', policy.methods)
  reply.header('access-control-allow-headers', granted.join(', '))
  reply.header('access-control-max-age', preflightSeconds)
}
