import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { PublicOrigins } from '../../services/public/origins.ts'

/** What browsers may send: the official clients' own headers among them. */
const allowedHeaders =
  /^(?:accept|authorization|content-type|http-referer|idempotency-key|last-event-id|openai-[a-z-]+|user-agent|x-public-bot-token|x-request-id|x-stainless-[a-z-]+|x-title)$/
const exposedHeaders = 'x-request-id, content-location, retry-after'
const preflightSeconds = '600'

export type PublicCors = ReturnType<typeof createPublicCors>

/** CORS (Fetch standard, section 3.2) of the public family, whose origins each assistant names itself. */
export function createPublicCors(origins: PublicOrigins) {
  return {
    /** A preflight carries no token: it is answered for every origin that any assistant names. */
    async preflight(request: FastifyRequest, reply: FastifyReply) {
      const origin = request.headers.origin
      reply.header('vary', 'Origin, Access-Control-Request-Headers')
      if (origin !== undefined && (await origins.isKnown(origin))) {
        allow(reply, origin)
        reply.header('access-control-allow-methods', 'GET, POST, OPTIONS')
        reply.header('access-control-allow-headers', grantedHeaders(request))
        reply.header('access-control-max-age', preflightSeconds)
      }
      return reply.code(200).send()
    },

    /**
     * Finds the caller's assistant and holds the request to its origins. A refusal may be read by
     * every page that a preflight would let pass.
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

function grantedHeaders(request: FastifyRequest): string {
  const wanted = (request.headers['access-control-request-headers'] ?? '').toLowerCase().split(',')
  return wanted
    .map((name) => name.trim())
    .filter((name) => allowedHeaders.test(name))
    .join(', ')
}
