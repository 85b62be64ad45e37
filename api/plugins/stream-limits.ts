import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../domain/errors.ts'
import { clientOf } from './client-address.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer stays open until a run or an ingestion has ended. */
    staysOpen?: boolean
  }
}

export interface StreamLimits {
  maxStreams: number
  maxStreamsPerUser?: number
  maxStreamsPerAssistant?: number
  maxStreamsPerClient?: number
}

/** Ten users, ten addresses or five assistants are needed to take all streams of a process. */
const shares = { user: 1 / 10, client: 1 / 10, assistant: 1 / 5 }

const retryAfterSeconds = 5

/**
 * Limits the answers that this process keeps open: in all, of a user, and of public callers by assistant and by
 * client. Counted before the handler, so that no run is started whose answer is then refused.
 */
export function installStreamLimits(app: FastifyInstance, limits: StreamLimits): void {
  const open = new Map<string, number>()

  app.addHook('preHandler', async (request, reply) => {
    // For a client that has disconnected already, `close` never fires.
    if (!request.routeOptions.config.staysOpen || reply.raw.destroyed || reply.raw.closed) return
    const counted = [{ key: 'all', max: limits.maxStreams }, ...sharesOf(request, limits)]
    const full = counted.find(({ key, max }) => (open.get(key) ?? 0) >= max)
    if (full?.key === 'all')
      throw new AppError('unavailable', 'Too many streams are open on this server.', { retryAfterSeconds })
    if (full !== undefined)
      throw new AppError('too_many_requests', `Too many streams are open; at most ${full.max} may be.`, {
        retryAfterSeconds,
      })
    for (const { key } of counted) open.set(key, (open.get(key) ?? 0) + 1)
    reply.raw.once('close', () => {
      for (const { key } of counted) {
        const left = (open.get(key) ?? 1) - 1
        if (left > 0) open.set(key, left)
        else open.delete(key)
      }
    })
  })
}

function sharesOf(request: FastifyRequest, limits: StreamLimits): { key: string; max: number }[] {
  const of = (who: keyof typeof shares) => Math.ceil(limits.maxStreams * shares[who])
  if (request.session) return [{ key: `user ${request.session.user._id}`, max: limits.maxStreamsPerUser ?? of('user') }]
  const assistant = request.publicAssistant
  return [
    { key: `client ${clientOf(request)}`, max: limits.maxStreamsPerClient ?? of('client') },
    ...(assistant
      ? [{ key: `assistant ${assistant._id}`, max: limits.maxStreamsPerAssistant ?? of('assistant') }]
      : []),
  ]
}
