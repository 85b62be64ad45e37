import type { LookupAddress } from 'node:dns'
import { lookup as systemLookup } from 'node:dns/promises'
import { type LookupFunction, isIP } from 'node:net'
import { buildConnector } from 'undici'
import { AddressRefusedError } from '../../domain/address-refused-error.ts'
import type { AddressPolicy } from './address-policy.ts'

export type Lookup = (hostname: string) => Promise<LookupAddress[]>

export const lookupAll: Lookup = (hostname) => systemLookup(hostname, { all: true })

/**
 * Connects only to addresses that the policy allows. The name is resolved once, and the connection goes to the
 * checked addresses, which prevents DNS rebinding. Literal addresses are checked here, because Node calls no
 * `lookup` for them.
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

/** The allowed addresses of a name (or a literal address). Throws if there is none. */
export async function allowedAddresses(
  policy: AddressPolicy,
  lookup: Lookup,
  hostname: string,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const literal = hostname.replace(/^\[|\]$/g, '')
  const family = isIP(literal)
  const found = family === 0 ? await addressesOf(lookup, hostname) : [{ address: literal, family }]
  const [first, ...others] = found.filter(({ address }) => isAllowed(policy, hostname, address))
  if (first === undefined) throw new AddressRefusedError(undefined, family === 0)
  return [first, ...others]
}

/** None for a name that does not exist, so that it cannot be told from a name of our own network. */
async function addressesOf(lookup: Lookup, hostname: string): Promise<LookupAddress[]> {
  try {
    return await lookup(hostname)
  } catch (error) {
    const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOTFOUND' || code === 'ENODATA') return []
    throw error
  }
}

function isAllowed(policy: AddressPolicy, hostname: string, address: string): boolean {
  return policy.allowsHost(hostname) || policy.allowsAddress(address)
}
