import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'

/** Who a request is counted for when no account stands behind it. `TRUST_PROXY` decides whose address that is. */
export function clientOf(request: Pick<FastifyRequest, 'ip'>): string {
  return networkOf(request.ip)
}

/** An IPv4 address, or the /64 network of an IPv6 address: one customer of a provider has all of its addresses. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, 64)
  const parsed = ipaddr.process(address)
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString()
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}
