import type { LookupAddress } from 'node:dns'
import { lookup as systemLookup } from 'node:dns/promises'
import { type LookupFunction, isIP } from 'node:net'
import { Agent, buildConnector, fetch as undiciFetch } from 'undici'
import { AddressRefusedError } from '../../domain/address-refused-error.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import type { Fetch, Outbound, OutboundOptions } from '../../services/outbound.ts'
import { type AddressPolicy, createAddressPolicy } from './address-policy.ts'
import { limitBody } from './limit-body.ts'
import { scanAnswer } from './scan-answer.ts'

interface OutboundSettings {
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

type Lookup = (hostname: string) => Promise<LookupAddress[]>

const lookupAll: Lookup = (hostname) => systemLookup(hostname, { all: true })

/**
 * Connects only to addresses that the policy allows. The name is resolved once, and the connection goes to the
 * checked addresses, which prevents DNS rebinding. Literal addresses are checked here, because Node calls no
 * `lookup` for them.
 */
function guardedConnect(policy: AddressPolicy, lookup: Lookup, timeoutMs: number): buildConnector.connector {
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
async function allowedAddresses(
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

type FetchOnce = (url: URL, init: RequestInit) => Promise<Response>

/** Headers without information about the caller: only these are sent to another origin. */
const harmlessHeaders = ['accept', 'accept-language', 'content-type', 'content-language', 'user-agent']

/**
 * `fetch` that follows redirects itself, so that each address is checked and a redirect to another origin never
 * receives the caller's keys: the fetch standard drops only `Authorization`.
 */
function followRedirects(
  fetchOnce: FetchOnce,
  { maxRedirects, checkRequest, maxBytes, json }: OutboundOptions & { maxRedirects: number },
): Fetch {
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined
    let url = input instanceof Request ? new URL(input.url) : new URL(input)
    let options = { ...(request ? await initOf(request) : {}), ...init }
    for (let redirects = 0; ; redirects++) {
      if (!/^https?:$/.test(url.protocol))
        throw new AddressRefusedError('Only http and https addresses can be reached.')
      checkRequest?.(url, (options.method ?? 'GET').toUpperCase())
      const response = await fetchOnce(url, options)
      const location = isRedirect(response.status) ? response.headers.get('location') : null
      if (location === null || options.redirect === 'manual') {
        const limited = maxBytes === undefined ? response : limitBody(response, maxBytes)
        return json === undefined ? limited : scanAnswer(limited, json)
      }
      await response.body?.cancel()
      if (redirects >= maxRedirects || options.redirect === 'error')
        throw new AppError('upstream_failed', 'The server redirects too often.')
      const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined
      if (next === undefined)
        throw new AppError('upstream_failed', 'The server redirects to something that is not a valid URL.')
      options = afterRedirect(options, response.status, next.origin === url.origin)
      url = next
    }
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

/** Changes method and body as in the fetch standard (4.4, HTTP-redirect fetch), and headers by our rule. */
function afterRedirect(options: RequestInit, status: number, sameOrigin: boolean): RequestInit {
  const method = (options.method ?? 'GET').toUpperCase()
  const becomesGet =
    (status === 303 && method !== 'GET' && method !== 'HEAD') ||
    ((status === 301 || status === 302) && method === 'POST')
  const given = [...new Headers(options.headers)]
  const headers = given
    .filter(([name]) => sameOrigin || harmlessHeaders.includes(name))
    .filter(([name]) => !becomesGet || !name.startsWith('content-'))
  const { body, ...rest } = options
  if (becomesGet) return { ...rest, headers, method: 'GET' }
  if (body instanceof ReadableStream)
    throw new AppError('upstream_failed', 'The server redirects a request that cannot be sent again.')
  return { ...rest, headers, ...(body === undefined ? {} : { body }) }
}

async function initOf(request: Request): Promise<RequestInit> {
  const body = request.body === null ? {} : { body: await request.arrayBuffer() }
  return {
    method: request.method,
    headers: request.headers,
    signal: request.signal,
    redirect: request.redirect,
    ...body,
  }
}
