import { Agent, fetch as undiciFetch } from 'undici'
import { AppError, invalidInput } from '../../domain/errors.ts'
import type { Outbound } from '../../services/outbound.ts'
import { createAddressPolicy } from './address-policy.ts'
import { type Lookup, allowedAddresses, guardedConnect, lookupAll } from './guarded-connect.ts'
import { followRedirects } from './redirects.ts'

export interface OutboundSettings {
  /** Hosts and CIDR ranges that may be reached although they are not public. */
  outboundAllow: string[]
}

const connectTimeoutMs = 10_000
/** So that a user who pauses between two questions needs no new TLS handshake. */
const idleConnectionMs = 60_000
const maxRedirects = 5

/** Creates the guarded `fetch`. `lookup` is for tests of names. `close` ends its connections. */
export function createOutbound({ outboundAllow }: OutboundSettings, lookup: Lookup = lookupAll) {
  // Node keeps the addresses of the last 250 requests, those of deleted conversations too.
  performance.setResourceTimingBufferSize(0)
  performance.clearResourceTimings()
  const policy = createAddressPolicy(outboundAllow)
  const guarded = connections({ connect: guardedConnect(policy, lookup, connectTimeoutMs) })
  const own = connections({ connect: { timeout: connectTimeoutMs } })
  const fetchOnce = async (url: URL, init: RequestInit): Promise<Response> =>
    fetchOver(guarded, url, init).catch((error: unknown) => {
      throw refusalWithin(error) ?? error
    })
  const outbound: Outbound = {
    fetch: followRedirects(fetchOnce, { maxRedirects }),
    fetchWith: (options) => followRedirects(fetchOnce, { maxRedirects, ...options }),
    async assertReachable(text, loc) {
      const url = URL.canParse(text) ? new URL(text) : undefined
      if (url === undefined || !/^https?:$/.test(url.protocol)) throw invalidInput(loc, 'must be an http or https URL')
      if (url.username !== '' || url.password !== '') throw invalidInput(loc, 'must not hold a user name or a password')
      await allowedAddresses(policy, lookup, url.hostname).catch((error: unknown) => {
        if (error instanceof AppError) throw invalidInput(loc, error.message, 'unreachable')
        throw invalidInput(loc, 'names cannot be looked up at the moment; try again soon', 'unreachable')
      })
    },
  }
  return {
    ...outbound,
    /** For addresses that the settings name: any may be reached, and redirects are not followed. */
    ownFetch: ((input, init = {}) =>
      fetchOver(own, new URL(input instanceof Request ? input.url : input), init)) satisfies typeof fetch,
    close: async () => {
      await Promise.all([guarded.close(), own.close()])
    },
  }
}

function connections(options: Agent.Options): Agent {
  return new Agent({
    keepAliveTimeout: idleConnectionMs,
    // Callers bring their own time limits; a model may think long before its first byte.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...options,
  })
}

/** undici's own fetch: the one inside Node comes from another version and does not take these connections. */
async function fetchOver(
  dispatcher: Agent,
  url: URL,
  { body, headers, method, signal }: RequestInit,
): Promise<Response> {
  if (body instanceof FormData) throw new TypeError('not a body that can be sent')
  return undiciFetch(url, {
    ...(method === undefined ? {} : { method }),
    ...(signal ? { signal } : {}),
    ...(body === undefined ? {} : { body, duplex: 'half' }),
    headers: [...new Headers(headers)],
    redirect: 'manual',
    dispatcher,
  })
}

/** fetch puts the reason of a failed connection into `cause`. */
function refusalWithin(error: unknown): AppError | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof AppError) return at
  }
  return undefined
}
