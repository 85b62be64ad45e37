import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

export type AddressPolicy = ReturnType<typeof createAddressPolicy>

/** Addresses that look public but are not: the platform endpoint on every Azure machine. */
const metadataAddresses = new Set(['168.63.129.16'])

const globalIpv6: Range = ipaddr.parseCIDR('2000::/3')
const nat64: Range = ipaddr.parseCIDR('64:ff9b::/96')

/**
 * Which addresses may be reached on behalf of a user: those of the public internet, and those in `allow` (hosts,
 * addresses and CIDR ranges, checked by `isHostOrRange`). Private, loopback, link-local, shared, reserved,
 * multicast and metadata addresses are refused, as the IANA special-purpose registries list them, also when IPv6
 * embeds them (mapped, NAT64, 6to4, Teredo).
 */
export function createAddressPolicy(allow: string[]) {
  const hosts = new Set(allow.filter((entry) => parseRange(entry) === undefined).map(normalHost))
  const ranges = allow.map(parseRange).filter((range) => range !== undefined)

  return {
    /** Whether the settings allow this name whatever it resolves to. */
    allowsHost: (hostname: string) => hosts.has(normalHost(hostname)),
    /** `address` is an IPv4 or IPv6 address in any notation. An invalid address is refused. */
    allowsAddress(address: string): boolean {
      const parsed = parseAddress(address)
      if (parsed === undefined) return false
      return ranges.some((range) => contains(range, parsed)) || isPublic(parsed)
    },
  }
}

/** Whether a text is an IP address or a CIDR range. */
export function isAddressOrRange(entry: string): boolean {
  return parseRange(entry) !== undefined
}

/** Whether an entry of `OUTBOUND_ALLOW` is valid. */
export function isHostOrRange(entry: string): boolean {
  return parseRange(entry) !== undefined || /^(?!.*\.\.)[a-z0-9_]([a-z0-9._-]*[a-z0-9])?$/i.test(entry)
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') {
    // In a network with NAT64 (RFC 6052), every IPv4 address of the internet has this form.
    return contains(nat64, address) && isPublic(embeddedIpv4(address))
  }
  if (address.kind() === 'ipv6') return contains(globalIpv6, address)
  return !metadataAddresses.has(address.toString())
}

function embeddedIpv4(address: Address): Address {
  return ipaddr.fromByteArray(address.toByteArray().slice(-4))
}

function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/^\[|\]$/g, '').replace(/%.*$/, '')
  if (isIP(bare) === 0) return undefined
  // `process` converts an IPv4-mapped IPv6 address to its IPv4 address.
  return ipaddr.process(bare)
}

function parseRange(entry: string): Range | undefined {
  const [address = '', prefix, more] = entry.split('/')
  const parsed = parseAddress(address)
  if (parsed === undefined || more !== undefined) return undefined
  const bits = parsed.kind() === 'ipv6' ? 128 : 32
  if (prefix === undefined) return [parsed, bits]
  const length = Number(prefix)
  return /^\d{1,3}$/.test(prefix) && length <= bits ? [parsed, length] : undefined
}

function contains([network, length]: Range, address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, length)
}

function normalHost(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '')
}
