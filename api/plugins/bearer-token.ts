import type { FastifyRequest } from 'fastify'

/** The token of `Authorization: Bearer …` (RFC 6750), or undefined. */
export function bearerOf(request: Pick<FastifyRequest, 'headers'>): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? '')?.[1]
}
