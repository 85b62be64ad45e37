import type { LookupAddress } from 'node:dns'
import { lookup as systemLookup } from 'node:dns/promises'
import { type LookupFunction, isIP } from 'node:net'
import { buildConnector } from 'undici'
import { AddressRefusedError } from '../../domain/address-refused-error.ts'
import type { AddressPolicy } from './address-policy.ts'

export type Lookup = (hostname: string) => Promise<LookupAddress[]>

export const lookupAll: Lookup = (hostname) => systemLookup(hostname, { all: true })

/**
 * Connects only where the policy allows. The addresses that were judged are the ones that are
 * connected to: the name is resolved once, so that a second answer of its server (DNS rebinding)
 * plays no part. Literal addresses are judged here, because Node asks no `lookup` for them.
 */
export function guardedConnect(policy: AddressPolicy, lookup: Lookup, timeoutMs: number): buildConnector.connector {
  const judgedLookup: LookupFunction = (hostname, options, callback) => {
    allowedAddresses(policy, lookup, hostname).then(
      ([first, ...others]) => {
        if (options.all) callback(null, [first, ...others])
        else callback(null, first.address, first.family)
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('lookup failed'), ''),
    )
  }
  const connect = buildConnector({ timeout: timeoutMs, lookup: judgedLookup })
  return (options, callback) => {
    const literal = options.hostname.replace(/^\[|\]$/g, '')
    if (isIP(literal) !== 0 && !isAllowed(policy, literal, literal)) return callback(new AddressRefusedError(), null)
    connect(options, callback)
  }
}

/** The addresses of a name (or a literal address) that may be reached. Throws when there is none. */
export async function allowedAddresses(
  policy: AddressPolicy,
  lookup: Lookup,
  hostname: string,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const literal = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(literal)
  const found = family === 0 ? await lookup(hostname) : [{ address: literal, family }]
  const [first, ...others] = found.filter(({ address }) => isAllowed(policy, hostname, address))
  if (first === undefined) throw new AddressRefusedError()
  return [first, ...others]
}

function isAllowed(policy: AddressPolicy, hostname: string, address: string): boolean {
  return policy.allowsHost(hostname) || policy.allowsAddress(address)
}
