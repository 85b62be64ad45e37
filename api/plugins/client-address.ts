import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'

/** The address under which a request without an account is counted. `TRUST_PROXY` decides which address that is. */
export function clientOf(request: Pick<FastifyRequest, 'ip'>): string {
  return networkOf(request.ip)
}

/**
 * An IPv4 address, or the first address of an IPv6 /64 network, because one customer of a provider has all
 * addresses of such a network.
 */
export function networkOf(address: string): string {
  return normalizeIP(address)
}
