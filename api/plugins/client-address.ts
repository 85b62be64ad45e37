import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'

/** Who a request is counted for when no account stands behind it. `TRUST_PROXY` decides whose address that is. */
export function clientOf(request: Pick<FastifyRequest, 'ip'>): string {
  return networkOf(request.ip)
}

/** An IPv4 address, or the first address of an IPv6 /64 network: one customer of a provider has all of its addresses. */
export function networkOf(address: string): string {
  return normalizeIP(address)
}
